"""Which cells are contaminated, by whose word, and means without them."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.exceptions import TrainingDataUnknown
from leaderboard.models import EmbeddingModel, ModelRevision, Run, Submission, Suite, Task, TrainingDataMark, User
from leaderboard.models.vocabulary import AggregateScope, TrainingVerdict
from leaderboard.selectors.board_tables import stored_boards
from leaderboard.selectors.catalogue import live_suites
from leaderboard.selectors.clean_means import CleanMean, clean_mean
from leaderboard.selectors.training_data import (
    contaminated_revisions,
    contaminated_task_names,
    contaminated_tasks,
    known_datasets,
    trained_on,
    training_datasets,
)
from tests.board_documents import store_statistics
from tests.factories import (
    make_published_run,
    make_revision,
    make_scored_run,
    make_suite,
    make_user,
    mark_training_data,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite() -> Suite:
    """Four tasks: of PathMNIST, of BloodMNIST, of both, of neither."""
    suite = make_suite("medheb-mini", n_tasks=4)
    sources = [["PathMNIST"], ["BloodMNIST"], ["BloodMNIST", "PathMNIST"], ["made_up"]]
    for task, names in zip(suite.tasks.all(), sources, strict=True):
        task.datasets = names
        task.save()
    return suite


def declared(suite: Suite, *names: str, revision: ModelRevision | None = None, published: bool = True) -> ModelRevision:
    """A revision of which a submission declared these data sets."""
    run = make_published_run(suite=suite, revision=revision)
    if not published:
        Run.objects.filter(pk=run.pk).update(is_published=False, published_at=None)
    submission = Submission.objects.create(
        revision=run.revision,
        suite=suite,
        submitter=make_user(),
        training_data="listed" if names else "none",
        declared_training_data=list(names),
        closed_at=timezone.now(),
    )
    Run.objects.filter(pk=run.pk).update(submission=submission)
    return run.revision


def mark(revision: ModelRevision, dataset: str, verdict: TrainingVerdict, reason: str = "its paper") -> None:
    mark_training_data(revision.model_id, dataset, verdict, reason)


def test_a_cell_is_contaminated_by_any_source_of_its_task(suite: Suite, django_assert_max_num_queries: object) -> None:
    path, blood, both, neither = suite.tasks.values_list("pk", flat=True)
    of_path, of_both = declared(suite, "PathMNIST"), declared(suite, "PathMNIST", "BloodMNIST")
    of_none = declared(suite)
    with django_assert_max_num_queries(4):
        found = contaminated_tasks([of_path.pk, of_both.pk, of_none.pk])
    assert found == {
        of_path.pk: frozenset({path, both}),
        of_both.pk: frozenset({path, blood, both}),
        of_none.pk: frozenset(),
    }
    assert neither not in set().union(*found.values())
    task = suite.tasks.get(pk=blood)
    assert contaminated_revisions(task, [of_path.pk, of_both.pk]) == {of_both.pk}


def test_nobody_can_mark_a_model_by_a_submission_that_comes_to_nothing(suite: Suite) -> None:
    revision = declared(suite, "PathMNIST", published=False)
    assert contaminated_tasks([revision.pk]) == {revision.pk: frozenset()}


def test_what_is_private_marks_nothing(suite: Suite) -> None:
    revision = declared(suite, "PathMNIST")
    Submission.objects.update(is_private=True)
    assert training_datasets([revision.pk]) == {revision.pk: frozenset()}


def test_an_administrators_finding_overrules_either_way_and_for_every_revision(suite: Suite) -> None:
    first = declared(suite, "PathMNIST")
    second = ModelRevision.objects.create(model=first.model, commit="f" * 40)
    mark(first, "PathMNIST", TrainingVerdict.NOT_TRAINED)
    mark(first, "BloodMNIST", TrainingVerdict.TRAINED)
    expected = frozenset({"BloodMNIST"})
    assert training_datasets([first.pk, second.pk]) == {first.pk: expected, second.pk: expected}
    mark(first, "BloodMNIST", TrainingVerdict.NOT_TRAINED, "their letter")
    assert training_datasets([first.pk]) == {first.pk: frozenset()}
    assert TrainingDataMark.objects.count() == 3, "what was found before is kept"


def test_each_data_set_says_by_whose_word(suite: Suite) -> None:
    revision = declared(suite, "PathMNIST")
    mark(revision, "BloodMNIST", TrainingVerdict.TRAINED, "section 3 of its paper")
    found = [
        (one.dataset, one.by, one.reason, one.tasks)
        for one in trained_on(revision_id=revision.pk, model_id=revision.model_id, suite_id=suite.pk)
    ]
    assert found == [
        ("BloodMNIST", "found", "section 3 of its paper", ("task1", "task2")),
        ("PathMNIST", "declared", "Its submitter declared it.", ("task0", "task2")),
    ]


def test_the_tasks_of_a_models_page_are_those_of_the_boards(suite: Suite) -> None:
    revision = declared(suite, "PathMNIST", "BloodMNIST")
    for verdict in TrainingVerdict:
        mark(revision, "PathMNIST", verdict)
        found = trained_on(revision_id=revision.pk, model_id=revision.model_id, suite_id=suite.pk)
        on_boards = contaminated_task_names([revision.pk], suite_id=suite.pk)[revision.pk]
        assert {task for one in found for task in one.tasks} == on_boards, verdict


def test_an_unknown_data_set_cannot_be_marked(suite: Suite) -> None:
    with pytest.raises(TrainingDataUnknown, match="no such"):
        mark(declared(suite), "no such", TrainingVerdict.TRAINED)


def test_the_catalogue_has_54_data_sets_each_with_its_domain() -> None:
    datasets = known_datasets()
    assert len(datasets) == 54
    assert all(dataset.group for dataset in datasets)


def test_a_mean_without_contaminated_cells_is_that_of_the_families_left() -> None:
    families = {1: "a", 2: "a", 3: "b", 4: "b"}
    scores = {1: 0.2, 2: 0.6, 3: 0.5, 4: 0.9}
    # By hand: a is (0.2 + 0.6) / 2 = 0.4; b without task 4 is 0.5; their mean is 0.45.
    assert clean_mean(scores, families=families, contaminated={4}) == CleanMean(pytest.approx(0.45), 3, 1)
    assert clean_mean(scores, families=families, contaminated=()) == CleanMean(pytest.approx(0.55), 4, 0)


def test_a_family_without_a_clean_cell_leaves_no_mean() -> None:
    families = {1: "a", 2: "b", 3: "b"}
    assert clean_mean({1: 0.5, 2: 1.0}, families=families, contaminated={1, 3}) == CleanMean(None, 1, 1)
    assert clean_mean({2: 1.0}, families=families, contaminated=()) == CleanMean(None, 1, 0)
    assert clean_mean({}, families={}, contaminated=()) == CleanMean(None, 0, 0)


def test_every_listed_run_of_a_suite_gets_its_clean_mean(suite: Suite) -> None:
    path, blood, both, neither = suite.tasks.all()
    Task.objects.filter(pk__in=[path.pk, blood.pk]).update(family="image_to_label")
    Task.objects.filter(pk__in=[both.pk, neither.pk]).update(family="text_to_text")
    hits = {path.name: 0.9, blood.name: 0.3, both.name: 0.8, neither.name: 0.2}
    trained = make_scored_run(suite=suite, hits=hits)
    clean = make_scored_run(suite=suite, hits=hits)
    hidden = make_scored_run(suite=suite, hits=hits, revision=make_revision(owner_opted_out=True))
    mark(trained.revision, "PathMNIST", TrainingVerdict.TRAINED)
    store_statistics(suite)
    overall = (AggregateScope.OVERALL, "")
    (summary,) = live_suites()
    board = stored_boards(summary, [overall])[overall].board
    found = {row.model.run_id: row.clean for row in board.rows}
    # By hand: ((0.9 + 0.3) / 2 + (0.8 + 0.2) / 2) / 2 = 0.55; without the two tasks of PathMNIST (0.3 + 0.2) / 2 = 0.25.
    assert found == {
        clean.pk: CleanMean(pytest.approx(0.55), 4, 0),
        trained.pk: CleanMean(pytest.approx(0.25), 2, 2),
    }
    assert hidden.pk not in found
    assert clean_mean({path.pk: 0.9}, families={path.pk: "x"}, contaminated={path.pk}) == CleanMean(None, 0, 1)


# --- the page


def record(client: Client, **changes: str) -> object:
    data = {"model": "lab/model", "dataset": "PathMNIST", "verdict": "trained", "reason": "its paper", **changes}
    return client.post(reverse("training-data"), data)


def test_an_administrator_records_and_lifts_a_finding(
    administrator_client: Client, administrator: User, suite: Suite
) -> None:
    make_revision("lab/model")
    assert record(administrator_client).status_code == 302
    stored = TrainingDataMark.objects.get()
    assert (stored.model.repo_id, stored.marked_by) == ("lab/model", administrator)
    assert "its paper" in administrator_client.get(reverse("training-data")).content.decode()
    lift = reverse("training-data-lift", args=[stored.pk])
    assert "holds again" in administrator_client.post(lift, follow=True).content.decode()
    assert "before" in administrator_client.post(lift, follow=True).content.decode()
    stored.refresh_from_db()
    assert not stored.is_current
    assert administrator_client.post(reverse("training-data-lift", args=[10**6])).status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [("model", "lab/nobody"), ("dataset", "no such"), ("dataset", ""), ("verdict", "x"), ("reason", ""), ("reason", "x" * 301)],
)  # fmt: skip
def test_a_finding_that_makes_no_sense_is_told(administrator_client: Client, field: str, value: str) -> None:
    make_revision("lab/model")
    response = record(administrator_client, **{field: value})
    assert list(response.context["form"].errors) == [field]
    assert not TrainingDataMark.objects.exists()


def test_hostile_words_of_a_finding_are_escaped(administrator_client: Client) -> None:
    make_revision("lab/model")
    record(administrator_client, reason="<script>alert('why')</script>")
    text = administrator_client.get(reverse("training-data")).content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text
    assert EmbeddingModel.objects.count() == 1


# --- marks on pages


def test_pages_of_models_and_tasks_say_what_is_contaminated(suite: Suite, client: Client) -> None:
    revision = declared(suite, "PathMNIST", revision=make_revision("lab/trained"))
    declared(suite, revision=make_revision("lab/clean"))
    text = client.get(reverse("model-detail", args=["lab/trained"])).content.decode()
    assert '<th scope="row">PathMNIST</th><td>2</td>' in text
    assert "None of this suite’s data sets" in client.get(reverse("model-detail", args=["lab/clean"])).content.decode()
    pages = [client.get(reverse("task-detail", args=[suite.slug, task.name])) for task in suite.tasks.all()]
    found = ["Trained on data of this task:" in page.content.decode() for page in pages]
    assert found == [True, False, True, False]
    assert "/models/lab/trained/" in pages[0].content.decode().partition("Trained on data")[2].partition("</p>")[0]
    mark(revision, "PathMNIST", TrainingVerdict.NOT_TRAINED)
    page = client.get(reverse("task-detail", args=[suite.slug, "task0"])).content.decode()
    assert "Trained on data of this task:" not in page


def test_marks_take_a_bounded_number_of_questions(
    suite: Suite, client: Client, django_assert_max_num_queries: object
) -> None:
    for number in range(6):
        declared(suite, "PathMNIST", revision=make_revision(f"lab/model{number}"))
    with django_assert_max_num_queries(9):
        client.get(reverse("task-detail", args=[suite.slug, "task0"]))
    with django_assert_max_num_queries(22):
        client.get(reverse("model-detail", args=["lab/model1"]))
