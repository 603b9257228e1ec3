"""Fills galleries of the demo panel, and gives each an index over its vectors."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection, transaction

from leaderboard.models import Gallery, GalleryItem
from leaderboard.models.gallery import GALLERY_TEXT_CHARACTERS
from leaderboard.selectors.gallery import index_expression

READ_TABLES = ("leaderboard_gallery", "leaderboard_galleryitem")
"""All that the panel's database role may read."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to store; see `GalleryItem`. `embedding` has as many numbers as the gallery's dimension."""

    key: str
    kind: str
    task: str
    family: str
    domain: str
    label: str
    caption: str
    source: str
    licence: str
    images: tuple[str, ...]
    picture: bytes | None
    whole: bytes | None
    box: tuple[int, int, int, int] | None
    embedding: Sequence[float]


def gallery_open(
    *,
    suite_slug: str,
    suite_version: str,
    title: str,
    synthetic: bool,
    model_key: str,
    model_name: str,
    dimension: int,
    wanted: Collection[str],
) -> tuple[Gallery, frozenset[str]]:
    """The gallery of a suite and model, and which of the `wanted` keys it lacks; items that are not wanted go.

    A gallery that was begun is taken up where it was left.
    """
    with transaction.atomic():
        gallery, _ = Gallery.objects.update_or_create(
            suite_slug=suite_slug,
            model_key=model_key,
            defaults={
                "suite_version": suite_version,
                "title": title,
                "synthetic": synthetic,
                "model_name": model_name,
                "dimension": dimension,
            },
        )
        gallery.items.exclude(key__in=wanted).delete()
    stored = set(gallery.items.values_list("key", flat=True))
    return gallery, frozenset(wanted) - stored


def gallery_items_store(*, gallery: Gallery, items: Sequence[NewItem]) -> None:
    """Add items; those that another run added meanwhile are kept as they are.

    Raises:
        ValueError: an embedding has another dimension than the gallery.
    """
    if any(len(item.embedding) != gallery.dimension for item in items):
        raise ValueError(f"every embedding of {gallery} needs {gallery.dimension} numbers")
    GalleryItem.objects.bulk_create(
        (
            GalleryItem(
                gallery=gallery,
                key=item.key,
                kind=item.kind,
                task=item.task,
                family=item.family,
                domain=item.domain,
                label=_bounded(item.label),
                caption=_bounded(item.caption),
                source=item.source,
                licence=item.licence,
                images=list(item.images),
                picture=item.picture,
                whole=item.whole,
                box=item.box,
                embedding=item.embedding,
            )
            for item in items
        ),
        ignore_conflicts=True,
    )


def gallery_publish(*, gallery: Gallery) -> None:
    """Index what the gallery holds and let the panel search it.

    The index is a graph (HNSW) over this gallery's rows alone, because only rows of one dimension can share one.
    """
    expression, operators = index_expression(gallery.dimension)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"CREATE INDEX IF NOT EXISTS gallery_item_hnsw_{gallery.pk} ON leaderboard_galleryitem"
            f" USING hnsw (({expression}) {operators}) WHERE gallery_id = {gallery.pk}"
        )
        cursor.execute("ANALYZE leaderboard_galleryitem")
        Gallery.objects.filter(pk=gallery.pk).update(is_live=True)


@dataclass(frozen=True, slots=True)
class RemovedGallery:
    """A gallery that is gone: of which suite and model it was, how many items it had, and why it was old."""

    suite_slug: str
    suite_version: str
    model_name: str
    n_items: int
    reason: str


def galleries_remove_old(*, model_key: str, versions: Mapping[str, str]) -> tuple[RemovedGallery, ...]:
    """Remove galleries with their items and indexes that are not of the present model on a suite's present version.

    Args:
        model_key: the hash of the present model's files.
        versions: the present version of each suite, by its slug; a suite that is not named has none.
    """
    removed = []
    with transaction.atomic(), connection.cursor() as cursor:
        for gallery in Gallery.objects.select_for_update().order_by("suite_slug", "pk"):
            if reason := _why_old(gallery, model_key, versions):
                n_items = gallery.items.count()
                removed.append(
                    RemovedGallery(gallery.suite_slug, gallery.suite_version, gallery.model_name, n_items, reason)
                )
                cursor.execute(f"DROP INDEX IF EXISTS gallery_item_hnsw_{gallery.pk}")
                gallery.delete()
    return tuple(removed)


def _why_old(gallery: Gallery, model_key: str, versions: Mapping[str, str]) -> str:
    """What makes a gallery old; empty for one that is not."""
    present = versions.get(gallery.suite_slug)
    if gallery.model_key != model_key:
        return "of another model than the panel's"
    if present is None:
        return "of a suite that is no longer on the board"
    return "" if gallery.suite_version == present else f"of another version than the suite's present one, {present}"


def _bounded(text: str) -> str:
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if len(text) <= GALLERY_TEXT_CHARACTERS else f"{text[: GALLERY_TEXT_CHARACTERS - 1]}…"
