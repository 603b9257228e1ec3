"""What was submitted, and what the database must say of it in the end."""

import dataclasses
import json
import sys
from pathlib import Path

import psycopg

from tests.production.prod_check.load import SUBMISSIONS, SUITE
from tests.production.prod_check.stack import Stack, wait_until

N_TASKS = 6
ENDED = frozenset({"succeeded", "failed", "cancelled"})


def write_data(board: Stack) -> None:
    """The demo's suites and models, a small suite of texts, and a model that guesses for each submission."""
    inside(board, "write")


def wait_for_runs(board: Stack, seconds: float) -> None:
    """Until each run of the load has ended; a failure says what the others were doing."""
    with psycopg.connect(board.secret("database_url").read_text(), autocommit=True) as database:

        def have_ended() -> bool:
            states = _states(database)
            return states.keys() <= ENDED and sum(states.values()) == SUBMISSIONS

        try:
            wait_until(have_ended, seconds=seconds)
        except AssertionError as error:
            raise AssertionError(f"runs after {seconds:g} s: {_states(database)}") from error


def _states(database: psycopg.Connection) -> dict[str, int]:
    """How many runs of the load are in each state."""
    return dict(
        database.execute(
            "SELECT run.state, count(*) FROM leaderboard_run run JOIN leaderboard_suite suite ON suite.id = run.suite_id"
            " WHERE suite.slug = %s GROUP BY run.state",
            [SUITE],
        ).fetchall()
    )


def nothing_is_lost(board: Stack) -> str:
    """Every run succeeded, its scores are those of a machine where nothing happened, and nobody holds anything."""
    return inside(board, "compare").strip()


def submit_reference(board: Stack) -> None:
    """The demo's reference model, which journeys look for on the boards."""
    inside(board, "submit")


def inside(board: Stack, what: str) -> str:
    """A part of this module in a process with the board's settings; what it printed."""
    return board.run("-m", "tests.production.prod_check.outcome", what)


def write() -> None:
    from django.conf import settings

    from evaluation.manifest import write_manifest
    from evaluation.suites.medheb.reader import read_suite
    from tests.faults.boards import write_suite
    from workers.demo_board import demo_hub_root, prepare_demo

    prepare_demo()
    folder = settings.SUITES_DIR / SUITE
    write_suite(folder, n_tasks=N_TASKS)
    # Synthetic, and last by name, so that forms offer the demo's suite first as the journeys expect.
    write_manifest(
        folder, dataclasses.replace(read_suite(folder), slug=SUITE, title="Texts of the load", synthetic=True)
    )
    for number in range(SUBMISSIONS):
        repository = demo_hub_root() / "load" / f"model{number:02}"
        repository.mkdir(parents=True)
        (repository / "config.json").write_text(
            json.dumps({"model_type": "medboard-chance", "dimension": 16, "seed": number})
        )


def submit() -> None:
    from leaderboard.models import Suite, User
    from leaderboard.ports import model_hub
    from leaderboard.services.submissions import submission_create

    report = model_hub().preflight(repo_id="demo/lite-dual")
    suite = Suite.objects.get(slug="medheb-demo", is_live=True)
    submission_create(submitter=User.objects.get(username="admin"), report=report, suite=suite)


def compare() -> None:
    from django.conf import settings

    from evaluation.commands.retrieval_suite import RetrievalSuite
    from evaluation.commands.suites_to_run import VectorSource
    from evaluation.embedders.chance import ChanceEmbedder
    from evaluation.embedding.encode import InputEncoder
    from evaluation.embedding.store import EmbeddingStore
    from evaluation.suites.medheb.reader import read_suite
    from leaderboard.models import Run, Score, TaskRun
    from leaderboard.models.vocabulary import RunState

    runs = list(Run.objects.filter(suite__slug=SUITE).select_related("revision__model"))
    assert sorted(run.revision.model.repo_id for run in runs) == [f"load/model{n:02}" for n in range(SUBMISSIONS)]
    folder = Path(settings.SUITES_DIR) / SUITE
    for run in runs:
        assert run.state == RunState.SUCCEEDED, f"{run} is {run.state}: {run.error_message}"
        assert run.is_published
        embedder = ChanceEmbedder(dimension=16, seed=int(run.revision.model.repo_id[-2:]))
        source = VectorSource(EmbeddingStore(InputEncoder(embedder)), embedder.description, None)
        results = RetrievalSuite(folder, read_suite(folder)).outcomes(
            [], source=source, on_progress=lambda *_: None, completed={}
        )
        expected = sorted((result.task, metric.name, metric.value) for result in results for metric in result.metrics)
        found = Score.objects.filter(task_run__run=run).values_list("task_run__task__name", "metric", "value")
        assert sorted(found) == expected, f"{run} has other scores than an undisturbed one"
    assert not TaskRun.objects.exclude(lease_owner="").exists()
    assert not Run.objects.exclude(lease_owner="").exists()
    again = TaskRun.objects.filter(run__in=runs, claims__gt=1).count()
    sys.stdout.write(
        f"{len(runs)} runs of {N_TASKS} tasks with the scores of undisturbed ones; {again} tasks were taken up again\n"
    )


if __name__ == "__main__":
    import django

    django.setup()
    {"write": write, "submit": submit, "compare": compare}[sys.argv[1]]()
