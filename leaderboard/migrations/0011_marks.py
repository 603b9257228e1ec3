import io

from django.db import migrations, models
from PIL import Image


def measure_pictures(apps, schema_editor):
    """Examples of tasks that are stored already get the size of their pictures."""
    examples = apps.get_model('leaderboard', 'TaskExample').objects.filter(image__isnull=False)
    for example in examples.only('image').iterator(chunk_size=100):
        with Image.open(io.BytesIO(bytes(example.image))) as picture:
            example.image_width, example.image_height = picture.size
        example.save(update_fields=['image_width', 'image_height'])


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0010_gallery'),
    ]

    operations = [
        migrations.AddField(
            model_name='boardsnapshot',
            name='training_data',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name='taskexample',
            name='image_width',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='taskexample',
            name='image_height',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.RunPython(measure_pictures, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='taskexample',
            constraint=models.CheckConstraint(condition=models.Q(('image__isnull', True), ('image_height__isnull', True), ('image_width__isnull', True)) | (models.Q(('image__isnull', False), ('image_height__isnull', False), ('image_width__isnull', False)) & models.Q(('image_height__gte', 1), ('image_width__gte', 1))), name='task_example_image_sized'),
        ),
    ]
