"""New migrations can be applied while processes of the version before still work. docs/migrations.md has the rules."""

import pytest
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.db.models import Q
from django.db.models.functions import Now
from django_migration_linter import MigrationLinter
from django_migration_linter.sql_analyser import analyse_sql_statements, get_sql_analyser_class

from tests.processes import BASE_DIR

FIRST_RELEASE = 12
"""Migrations up to this number are those of the first release: no board had been deployed before."""

pytestmark = pytest.mark.django_db


def own_migrations() -> list[migrations.Migration]:
    loader = MigrationLoader(connection)
    return [migration for (app, _), migration in sorted(loader.disk_migrations.items()) if app == "leaderboard"]


def test_every_new_migration_leaves_the_version_before_working(capsys: pytest.CaptureFixture[str]) -> None:
    linter = MigrationLinter(path=str(BASE_DIR), include_apps=["leaderboard"], no_cache=True)
    for migration in own_migrations():
        if int(migration.name[:4]) > FIRST_RELEASE:
            linter.lint_migration(migration)
    assert linter.nb_erroneous == 0, capsys.readouterr().out


def test_every_migration_has_a_way_back() -> None:
    for migration in own_migrations():
        for operation in migration.operations:
            assert operation.reversible, f"{migration}: {operation.describe()}"


def faults_of(operation: migrations.operations.base.Operation) -> set[str]:
    """What the linter finds in one change of a table with a name and a number."""
    before = ProjectState()
    fields = [("id", models.BigAutoField(primary_key=True)), ("name", models.CharField(max_length=8))]
    migrations.CreateModel("Thing", [*fields, ("number", models.IntegerField())]).state_forwards("leaderboard", before)
    after = before.clone()
    operation.state_forwards("leaderboard", after)
    with connection.schema_editor(collect_sql=True, atomic=operation.atomic or False) as editor:
        operation.database_forwards("leaderboard", editor, before, after)
    analyser = get_sql_analyser_class(connection.vendor)
    errors, _, warnings = analyse_sql_statements(analyser, editor.collected_sql, [])
    return {found.code for found in [*errors, *warnings]}


@pytest.mark.parametrize(
    ("operation", "faults"),
    [
        (migrations.AddField("Thing", "more", models.IntegerField(null=True)), set()),
        (migrations.AddField("Thing", "more", models.DateTimeField(db_default=Now())), set()),
        (migrations.AddField("Thing", "more", models.IntegerField(default=0)), {"NOT_NULL"}),
        (migrations.RemoveField("Thing", "number"), {"DROP_COLUMN"}),
        (migrations.RenameField("Thing", "number", "count"), {"RENAME_COLUMN"}),
        (migrations.AlterField("Thing", "number", models.BigIntegerField()), {"ALTER_COLUMN"}),
        (migrations.RenameModel("Thing", "Object"), {"RENAME_TABLE"}),
        (migrations.DeleteModel("Thing"), {"DROP_TABLE"}),
        (migrations.AddIndex("Thing", models.Index(fields=["name"], name="thing_name")), {"CREATE_INDEX"}),
        (
            migrations.AddConstraint("Thing", models.UniqueConstraint(fields=["name"], name="thing_one")),
            {"ADD_UNIQUE"},
        ),
        (
            migrations.AddConstraint("Thing", models.CheckConstraint(condition=Q(number__gt=0), name="thing_most")),
            set(),
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, migrations.operations.base.Operation) else "",
)
def test_the_linter_knows_the_changes_that_break_the_version_before(
    operation: migrations.operations.base.Operation, faults: set[str]
) -> None:
    assert faults_of(operation) == faults
