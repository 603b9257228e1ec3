"""The finder of probing suites: its answers are those of the boards that it asks, and say how sure they are."""

import re
from dataclasses import replace
from html import unescape

import pytest
from django.test import Client

from leaderboard.models import EmbeddingModel, Run, Suite
from tests.factories import mark_training_data
from tests.leaderboard.pages import blocked_by_policy, wrongly_nested
from tests.probe_documents import NAMES, board_of, make_probing_suite, publish, store_board

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite() -> Suite:
    return make_probing_suite()


@pytest.fixture
def runs(suite: Suite) -> dict[str, Run]:
    runs = {name: publish(suite, name) for name in NAMES}
    EmbeddingModel.objects.filter(repo_id="lab/firm").update(parameters=3 * 10**9, licence="cc-by-nc-4.0")
    EmbeddingModel.objects.filter(repo_id="lab/reader").update(parameters=10**8, licence="mit")
    EmbeddingModel.objects.filter(repo_id="lab/specialist").update(parameters=None, licence="mit")
    return runs


@pytest.fixture
def board(suite: Suite, runs: dict[str, Run]) -> None:
    store_board(suite, runs)


def asked(client: Client, query: str = "", *, status: int = 200) -> str:
    """The answer's words, and after a bar the address that it leads to."""
    response = client.get(f"/boards/medtec/?suite=medtec-test{query}")
    assert response.status_code == status
    html = response.content.decode()
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    (answer,) = re.findall(r'<p class="answer" role="status">(.*?)</p>', html, re.DOTALL)
    links = re.findall(r'href="(/boards/[^"]*)"', answer)
    words = " ".join(re.sub(r"<[^>]*>", "", answer).split())
    return unescape(f"{words} | {links[-1]}" if links else words)


def test_without_a_choice_the_cells_of_all_modalities_are_counted(client: Client, board: None) -> None:
    assert asked(client) == (
        "firm tells right from wrong descriptions in 10 of 10 cells, 4 more than the next, reader."
        " All 3 that fit | /boards/medtec/?suite=medtec-test"
    )


def test_limits_leave_models_out_and_follow_to_the_board(client: Client, board: None) -> None:
    assert asked(client, "&terms=commercial") == (
        "reader tells right from wrong descriptions in 6 of 10 cells, 4 more than the next, specialist."
        " All 2 that fit | /boards/medtec/?suite=medtec-test&licence=commercial"
    )
    assert asked(client, "&size=500000000&terms=mit") == (
        "reader tells right from wrong descriptions in 6 of 10 cells, the only one that fits."
        " See it on the board | /boards/medtec/?suite=medtec-test&max_parameters=500000000&licence=mit"
    )
    assert asked(client, "&size=1000").startswith("No model with a result there fits.")


def test_a_modality_is_answered_by_its_levels(client: Client, board: None) -> None:
    assert asked(client, "&images=fundus") == (
        "firm tells right from wrong descriptions in 5 of 5 cells (Fundus), 3 more than the next, reader."
        " All 3 that fit | /boards/medtec/modality/fundus/?suite=medtec-test"
    )


def test_a_level_is_answered_by_its_modalities_and_equal_ones_are_said(client: Client, board: None) -> None:
    # firm and reader tell the right domain in both modalities.
    assert asked(client, "&ability=L1") == (
        "firm tells right from wrong descriptions in 2 of 2 cells (L1 Domain), as many as 1 other."
        " All 3 that fit | /boards/medtec/level/L1/?suite=medtec-test"
    )


def test_a_cell_is_answered_by_its_score_and_says_when_two_cannot_be_told_apart(client: Client, board: None) -> None:
    # The made-up ranks put every model into the tie group of rank 1.
    assert asked(client, "&images=chest_radiograph&ability=L4") == (
        "specialist: DS of +0.210 (+0.195 to +0.225) at L4 Finding on Chest radiograph, +0.010 to the next, firm;"
        " the two cannot be told apart, so either may be the better one."
        " All 3 that fit | /boards/medtec/modality/chest_radiograph/?suite=medtec-test&sort=-L4"
    )


def test_a_lead_that_is_sure_is_called_so_and_a_best_that_collapses_too(
    client: Client, suite: Suite, runs: dict[str, Run]
) -> None:
    found = board_of({name: str(run.pk) for name, run in runs.items()}).cells
    order = {str(runs[name].pk): rank for name, rank in (("lab/firm", 1), ("lab/reader", 2), ("lab/specialist", 3))}
    store_board(
        suite, runs,
        cells=tuple(replace(cell, rank=order[cell.model], tie_group=order[cell.model]) for cell in found),
    )  # fmt: skip
    assert asked(client, "&images=fundus&ability=L5").startswith(
        "firm: DS of +0.200 (+0.185 to +0.215) at L5 Negation on Fundus, +0.400 to the next, specialist;"
        " that is more than chance explains (95%)."
    )
    limited = asked(client, "&images=fundus&ability=L5&terms=mit")
    assert limited.startswith("specialist is the best but does not tell them apart (collapse, certain): DS of -0.200")


@pytest.fixture
def board_with_training_data(suite: Suite, runs: dict[str, Run]) -> None:
    """firm was trained on the images of the retina."""
    suite.tasks.filter(modality="fundus").update(datasets=["APTOS-2019"])
    mark_training_data(runs["lab/firm"].revision.model_id, "APTOS-2019")
    store_board(suite, runs)


def test_an_answer_that_rests_on_training_data_says_so(client: Client, board_with_training_data: None) -> None:
    assert "It was trained on images of these cells (†)." in asked(client)
    assert "It was trained on images of this cell (†)." in asked(client, "&images=fundus&ability=L5")
    assert "trained" not in asked(client, "&images=chest_radiograph&ability=L1")


def test_without_training_data_the_answer_leaves_it_out_too(client: Client, board_with_training_data: None) -> None:
    assert asked(client, "&ranks=clean") == (
        "firm tells right from wrong descriptions in 5 of 5 cells; the next, reader, in 6 of 10."
        " Cells that a model was trained on are left out."
        " All 3 that fit | /boards/medtec/?suite=medtec-test&ranks=clean"
    )
    assert asked(client, "&ranks=clean&images=fundus").startswith(
        "reader tells right from wrong descriptions in 2 of 5 cells (Fundus), 2 more than the next, specialist."
    )
    words = asked(client, "&ranks=clean&images=fundus&ability=L5&size=10000000000")
    assert words.startswith("reader is the best but does not tell them apart (collapse, certain): DS of -0.300")
    html = client.get("/boards/medtec/?ranks=clean").content.decode()
    assert html.partition("</form>")[0].count('<input type="hidden" name="ranks" value="clean">') == 1


def test_questions_that_make_no_sense_are_refused(client: Client, board: None) -> None:
    for query in ("&images=knee", "&ability=L9", "&size=-1", "&size=many"):
        assert asked(client, query, status=400) == "This question cannot be asked: see the marked field."


def test_presets_lead_to_boards_of_places_that_the_suite_has(client: Client, board: None) -> None:
    html = client.get("/boards/medtec/").content.decode()
    (presets,) = re.findall(r'<ul class="presets".*?</ul>', html, re.DOTALL)
    links = {title: unescape(href) for href, title in re.findall(r'href="([^"]*)"[^>]*>([^<]*)</a>', presets)}
    assert list(links) == ["Radiology", "Ophthalmology", "Anatomy", "Findings", "Negation"]
    for href in links.values():
        assert client.get(href).status_code == 200
    assert "columns=chest_radiograph" in links["Radiology"]


def test_a_suite_without_results_has_no_finder(client: Client, suite: Suite) -> None:
    html = client.get("/boards/medtec/").content.decode()
    assert "Find a model" not in html
    assert "Nothing is published yet" in html


def test_an_answer_costs_no_query_more(client: Client, board: None, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(5):
        client.get("/boards/medtec/?images=fundus&ability=L4&size=10000000000")
