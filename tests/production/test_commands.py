"""The commands of `manage.py` for whoever runs a board."""

import io
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from leaderboard.models import BoardSnapshot, Suite, Task, User
from tests.evaluation.miniature_release import write_release
from tests.factories import make_published_run, make_suite


def output_of(*command: object) -> str:
    out = io.StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


def test_an_administrator_gets_a_password_that_is_shown_once(db: None) -> None:
    said = output_of("create_admin", "ada")
    password = said.split()[-1]
    assert authenticate(username="ada", password=password).is_superuser
    with pytest.raises(CommandError, match="already exists"):
        call_command("create_admin", "ada")
    assert User.objects.count() == 1


def test_an_administrator_s_password_comes_from_a_file_and_has_to_be_strong(db: None, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("short\n")
    with pytest.raises(CommandError, match="too short"):
        call_command("create_admin", "ada", "--password-file", file)
    assert not User.objects.exists()
    file.write_text("a long passphrase for tests\n")
    assert "Password" not in output_of("create_admin", "ada", "--password-file", file)
    assert authenticate(username="ada", password="a long passphrase for tests").is_staff


@pytest.mark.django_db(transaction=True)
def test_indexes_are_built_anew(db: None) -> None:
    assert "are new" in output_of("reindex")


def test_statistics_that_cannot_be_computed_are_told(db: None, settings: object, tmp_path: Path) -> None:
    settings.SUITES_DIR = tmp_path
    assert output_of("snapshot") == "Computed the statistics of 0 of 0 suites that needed it.\n"
    make_published_run(suite=make_suite())
    with pytest.raises(CommandError, match="the log says why"):
        call_command("snapshot", stdout=io.StringIO())
    assert not BoardSnapshot.objects.exists()


def test_a_suite_is_installed_and_the_board_knows_its_ready_tasks(
    db: None, settings: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.SUITES_DIR = tmp_path / "suites"
    write_release(tmp_path / "release")
    call_command("install_suites", "--source", tmp_path / "release", "--tasks", "BloodMNIST_cls")
    suite = Suite.objects.get(slug="medheb")
    assert [task.name for task in Task.objects.filter(suite=suite, is_installed=True)] == ["BloodMNIST_cls"]
    with pytest.raises(CommandError, match="no_such_task"):
        call_command("install_suites", "--source", tmp_path / "release", "--tasks", "no_such_task")
