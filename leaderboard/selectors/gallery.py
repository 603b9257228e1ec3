"""Searches the galleries of the demo panel."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import connection, transaction

from leaderboard.models import Gallery, GalleryItem

MAX_FULL_PRECISION = 2000
"""Dimensions that an index over numbers of four bytes takes; beyond, it holds them in two (pgvector, "HNSW")."""
SEARCH_WIDTH = 100
"""How many candidates the walk through the index keeps (hnsw.ef_search)."""


@dataclass(frozen=True, slots=True)
class GalleryRow:
    """A gallery that can be searched."""

    pk: int
    suite_slug: str
    title: str
    synthetic: bool
    dimension: int
    n_items: int


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that was found. `score` is its cosine to the query, `parts` those to the query's parts by name."""

    pk: int
    score: float
    kind: str
    family: str
    domain: str
    label: str
    caption: str
    source: str
    licence: str
    n_images: int
    picture: bytes | None
    whole: bytes | None
    box: tuple[int, int, int, int] | None
    gallery: str
    synthetic: bool
    parts: Mapping[str, float] = field(default_factory=dict)


def index_expression(dimension: int) -> tuple[str, str]:
    """The column as it is indexed and compared, and the operators of cosine distance for it."""
    kind = "vector" if dimension <= MAX_FULL_PRECISION else "halfvec"
    return f"embedding::{kind}({dimension})", f"{kind}_cosine_ops"


def live_galleries(*, model_key: str) -> tuple[GalleryRow, ...]:
    """The galleries that a model's vectors can be compared with."""
    found = Gallery.objects.filter(is_live=True, model_key=model_key).order_by("title", "pk")
    return tuple(
        GalleryRow(row.pk, row.suite_slug, row.title, row.synthetic, row.dimension, row.items.count()) for row in found
    )


def gallery_search(
    *,
    galleries: Sequence[GalleryRow],
    vector: Sequence[float],
    count: int,
    kinds: Collection[str] = (),
    domains: Collection[str] = (),
    parts: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Hit, ...]:
    """The `count` items of the greatest cosine to `vector`, the best first; empty filters let everything through.

    The index is asked, so that an item may be missed; with filters it is walked on until enough were found.
    """
    found = [
        (score, pk, gallery)
        for gallery in galleries
        for pk, score in _nearest(gallery, vector, count=count, kinds=kinds, domains=domains)
    ]
    best = sorted(found, key=lambda row: (-row[0], row[1]))[:count]
    items = {item.pk: item for item in GalleryItem.objects.defer("embedding").filter(pk__in=[pk for _, pk, _ in best])}
    of_parts = {name: _cosines(items, part) for name, part in (parts or {}).items()}
    return tuple(
        _hit(
            items[pk],
            gallery,
            score=score,
            parts={name: cosines[pk] for name, cosines in of_parts.items()},
        )
        for score, pk, gallery in best
        if pk in items
    )


def _nearest(
    gallery: GalleryRow,
    vector: Sequence[float],
    *,
    count: int,
    kinds: Collection[str],
    domains: Collection[str],
) -> list[tuple[int, float]]:
    column, _ = index_expression(gallery.dimension)
    query = column.replace("embedding", "%s")
    # The index belongs to the rows of one gallery, so its number must stand in the statement as it does in the index.
    conditions, values = [f"gallery_id = {gallery.pk}"], []
    for name, chosen in (("kind", kinds), ("domain", domains)):
        if chosen:
            conditions.append(f"{name} = ANY(%s)")
            values.append(list(chosen))
    statement = (
        f"SELECT id, 1 - ({column} <=> {query}) FROM leaderboard_galleryitem"  # noqa: S608 - only numbers and names of ours
        f" WHERE {' AND '.join(conditions)} ORDER BY {column} <=> {query} LIMIT %s"
    )
    text = vector_text(vector)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL hnsw.ef_search = {max(SEARCH_WIDTH, count)}")
        cursor.execute("SET LOCAL hnsw.iterative_scan = strict_order")
        cursor.execute(statement, [text, *values, text, count])
        return cursor.fetchall()


def _cosines(pks: Collection[int], vector: Sequence[float]) -> dict[int, float]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, 1 - (embedding <=> %s::vector) FROM leaderboard_galleryitem WHERE id = ANY(%s)",
            [vector_text(vector), list(pks)],
        )
        return dict(cursor.fetchall())


def vector_text(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, map(float, vector)))}]"


def _hit(item: GalleryItem, gallery: GalleryRow, *, score: float, parts: Mapping[str, float]) -> Hit:
    return Hit(
        pk=item.pk,
        score=score,
        kind=item.kind,
        family=item.family,
        domain=item.domain,
        label=item.label,
        caption=item.caption,
        source=item.source,
        licence=item.licence,
        n_images=len(item.images),
        picture=None if item.picture is None else bytes(item.picture),
        whole=None if item.whole is None else bytes(item.whole),
        box=None if item.box is None else tuple(item.box),
        gallery=gallery.title,
        synthetic=gallery.synthetic,
        parts=parts,
    )
