"""What the demo panel searches: evidence of suites whose licence allows showing it, with one model's vectors.

The vectors of a gallery have one dimension, and galleries differ in it, so the column has none. Each gallery has an
index of its own over its rows (`leaderboard.services.gallery`).
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from pgvector.django import VectorField

from leaderboard.models.vocabulary import Domain, Family, one_of

MAX_DIMENSION = 4000
"""The largest that an index over half-precision numbers takes (pgvector, "HNSW")."""
GALLERY_TEXT_CHARACTERS = 2000
PICTURE_BYTES = 128 * 1024


class GalleryKind(models.TextChoices):
    """What an item is."""

    IMAGE = "image", "Images"
    VOLUME = "volume", "Volumes"
    TEXT = "text", "Texts"


class Gallery(models.Model):
    """A suite as one model embeds it. `model_key` is the hash of the model's files; it is live once it is complete."""

    suite_slug = models.CharField(max_length=64)
    suite_version = models.CharField(max_length=64)
    title = models.CharField(max_length=200)
    synthetic = models.BooleanField()
    model_key = models.CharField(max_length=64)
    model_name = models.CharField(max_length=200)
    dimension = models.PositiveIntegerField()
    is_live = models.BooleanField(default=False)

    class Meta:
        ordering = ["suite_slug"]
        constraints = [
            models.UniqueConstraint(fields=["suite_slug", "model_key"], name="gallery_unique"),
            models.CheckConstraint(
                condition=Q(dimension__gte=1, dimension__lte=MAX_DIMENSION), name="gallery_dimension_can_be_indexed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.suite_slug} as {self.model_name} embeds it"


class GalleryItem(models.Model):
    """One piece of evidence: an image, a volume or a text.

    `key` is the hash of its content, `images` are its files relative to the suite's folder, `picture` is a small JPEG
    of them. An image that was cut from another has a `box` in it: left, top, right, bottom in pixels of `whole`, a
    small JPEG of the other.
    """

    gallery = models.ForeignKey(Gallery, on_delete=models.CASCADE, related_name="items")
    key = models.CharField(max_length=64)
    kind = models.CharField(max_length=8, choices=GalleryKind)
    task = models.CharField(max_length=200)
    family = models.CharField(max_length=32, choices=Family)
    domain = models.CharField(max_length=32, choices=Domain)
    label = models.TextField(blank=True)
    caption = models.TextField(blank=True)
    source = models.CharField(max_length=200)
    licence = models.CharField(max_length=200)
    images = ArrayField(models.TextField(), default=list, blank=True)
    picture = models.BinaryField(null=True)
    whole = models.BinaryField(null=True)
    box = ArrayField(models.PositiveIntegerField(), size=4, null=True)
    embedding = VectorField()

    class Meta:
        ordering = ["gallery", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["gallery", "key"], name="gallery_item_unique"),
            one_of("kind", GalleryKind, name="gallery_item_kind_known"),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("caption"), GALLERY_TEXT_CHARACTERS)
                & Q(LessThanOrEqual(Length("label"), GALLERY_TEXT_CHARACTERS)),
                name="gallery_item_text_bounded",
            ),
            models.CheckConstraint(
                condition=(Q(picture__isnull=True) | Q(LessThanOrEqual(Length("picture"), PICTURE_BYTES)))
                & (Q(whole__isnull=True) | Q(LessThanOrEqual(Length("whole"), PICTURE_BYTES))),
                name="gallery_item_pictures_bounded",
            ),
            models.CheckConstraint(
                condition=Q(box__isnull=True, whole__isnull=True)
                | Q(
                    box__len=4,
                    whole__isnull=False,
                    box__2__gt=F("box__0"),
                    box__3__gt=F("box__1"),
                ),
                name="gallery_item_box_in_a_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key[:12]} of {self.task}"
