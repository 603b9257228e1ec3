
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0001_initial'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='aggregatescore',
            name='aggregate_score_scope_known',
        ),
        migrations.RemoveConstraint(
            model_name='aggregatescore',
            name='aggregate_score_value_finite',
        ),
        migrations.RemoveConstraint(
            model_name='aggregatescore',
            name='aggregate_score_value_in_range',
        ),
        migrations.AlterField(
            model_name='aggregatescore',
            name='scope',
            field=models.CharField(choices=[('overall', 'Overall'), ('family', 'Family'), ('domain', 'Domain'), ('evidence_form', 'Evidence form'), ('pairing_type', 'Pairing type'), ('granularity', 'Granularity'), ('split', 'Split'), ('release_group', 'Group of the release')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='aggregatescore',
            constraint=models.CheckConstraint(condition=models.Q(('scope__in', ['overall', 'family', 'domain', 'evidence_form', 'pairing_type', 'granularity', 'split', 'release_group'])), name='aggregate_score_scope_known'),
        ),
        migrations.AddConstraint(
            model_name='aggregatescore',
            constraint=models.CheckConstraint(condition=models.Q(('value__gt', float("-inf")), ('value__lt', float("inf"))), name='aggregate_score_value_finite'),
        ),
        migrations.AddConstraint(
            model_name='aggregatescore',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('metric', 'adjusted_hit@1'), ('value__gte', 0), _connector='OR'), models.Q(('metric', 'cv'), ('value__lte', 1), _connector='OR')), name='aggregate_score_value_in_range'),
        ),
    ]
