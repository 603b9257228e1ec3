"""What a task's page shows of its queries: copies of a few inputs, made by a worker, which has the suite."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from leaderboard.models.catalogue import Task

EXAMPLE_CHARACTERS = 4000
EXAMPLE_IMAGE_BYTES = 128 * 1024


class TaskExample(models.Model):
    """A query of a task, or one of its candidates.

    `record` is a record's number in the task file and `place` the candidate's place in it, both from 0; the query of a
    record has no place. `image` is a small JPEG of up to four of the input's pictures, and is only there where the
    licence of the data allows showing them; its size is in pixels.
    """

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="examples")
    record = models.PositiveIntegerField()
    place = models.PositiveIntegerField(null=True)
    text = models.TextField(blank=True)
    instruction = models.TextField(blank=True)
    n_images = models.PositiveIntegerField(default=0)
    is_volume = models.BooleanField(default=False)
    image = models.BinaryField(null=True)
    image_width = models.PositiveSmallIntegerField(null=True)
    image_height = models.PositiveSmallIntegerField(null=True)

    class Meta:
        ordering = ["task", "record", "place"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "record", "place"], nulls_distinct=False, name="task_example_unique"
            ),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("text"), EXAMPLE_CHARACTERS)
                & Q(LessThanOrEqual(Length("instruction"), EXAMPLE_CHARACTERS)),
                name="task_example_text_bounded",
            ),
            models.CheckConstraint(
                condition=Q(image__isnull=True)
                | (Q(n_images__gte=1) & Q(LessThanOrEqual(Length("image"), EXAMPLE_IMAGE_BYTES))),
                name="task_example_image_bounded",
            ),
            models.CheckConstraint(
                condition=Q(image__isnull=True, image_width__isnull=True, image_height__isnull=True)
                | (
                    Q(image__isnull=False, image_width__isnull=False, image_height__isnull=False)
                    & Q(image_width__gte=1, image_height__gte=1)
                ),
                name="task_example_image_sized",
            ),
        ]

    def __str__(self) -> str:
        return f"record {self.record} of {self.task_id}"
