"""The command that fills an empty database with invented models, for measuring pages."""

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import BoardTable, EmbeddingModel, Score, TaskRun
from leaderboard.selectors.due_snapshots import suites_to_build
from tests.leaderboard.pages import tables, wrongly_nested

pytestmark = pytest.mark.django_db
ADDRESSES = (
    "/", "/boards/family/text_to_text/", "/boards/release-group/all_ood/", "/boards/medtec/", "/boards/medtec/level/L4/",
    "/boards/medtec/modality/fundus/",
)  # fmt: skip


def test_it_fills_every_board_with_invented_models_and_says_so(client, capsys) -> None:
    call_command("seed_load", models=5, seed=3)
    assert "5 invented models on 107 tasks" in capsys.readouterr().out
    assert TaskRun.objects.count() == 5 * (107 + 150)
    assert suites_to_build() == []
    assert BoardTable.objects.count() == (1 + 34) + (1 + 8 + 5)
    for address in ADDRESSES:
        html = client.get(address).content.decode()
        assert "Synthetic data." in html
        assert "invented" in html
        assert sum(any("model-00" in cell for cell in row) for row in tables(html)[0]) == 5
        assert wrongly_nested(html) == []
    failed = TaskRun.objects.filter(state="failed").count()
    assert Score.objects.count() == 5 * (107 + 150) - failed


def test_it_leaves_a_database_with_models_alone() -> None:
    EmbeddingModel.objects.create(repo_id="lab/real")
    with pytest.raises(CommandError, match="empty database"):
        call_command("seed_load", models=2)
    with pytest.raises(CommandError, match="at least 1"):
        call_command("seed_load", models=0)
