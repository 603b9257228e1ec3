"""A board from results made by hand: numbers that can be said beforehand, and errors."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from evaluation.errors import DataMissing, ResultInvalid, TaskUnknown
from evaluation.probe_types import Probe, ProbeSet
from evaluation.suites.medtec.board import probe_board_from_json, probe_board_to_json
from evaluation.suites.medtec.board_statistics import probe_board
from evaluation.suites.medtec.evidence import BoardMaterial
from evaluation.suites.medtec.protocol_scores import comparisons, protocol_scores
from evaluation.vocabulary import AnchorSelection, Level, Modality, PhrasingStyle, ProbeTaskKind
from tests.evaluation.medtec.made_results import (
    anchor_set,
    cell_result,
    cell_spec,
    label_result,
    protocol_spec,
    question_result,
    retrieval_result,
    suite_of,
)

RESAMPLES = 300
SHA = "a" * 64
N = 120
CLUSTERS = [f"p{number // 2}" for number in range(N)]
SEXES = ["female" if number % 4 < 2 else "male" for number in range(N)]
AGES = [None if number < 10 else 30.0 + number / 2 for number in range(N)]
SPECS = {
    name: cell_spec(name)
    for name in (
        "fundus.L1",
        "fundus.L4",
        "fundus.L4.report",
        "fundus.L5",
        "fundus.L5.hedged",
        "fundus.L5.definite",
        "fundus.L5.no_finding",
    )
}
QUESTIONS = protocol_spec("vqa_rad.closed_questions", ProbeTaskKind.CLOSED_QUESTIONS, dataset="vqa_rad")
SUITE = suite_of(*SPECS.values(), QUESTIONS)
PROBE_SET = ProbeSet(
    Modality.FUNDUS,
    Level.L1,
    PhrasingStyle.TEMPLATE,
    None,
    AnchorSelection.ALL,
    "1",
    (Probe("fundus", "t1", ("a photograph",), ("a banana",), "ours"),),
    SHA,
)
MATERIAL = BoardMaterial({"anchors/idrid.csv": anchor_set(clusters=CLUSTERS, sexes=SEXES, ages=AGES)}, {}, (PROBE_SET,))


def scores_around(mean: float, *, seed: int, spread: float = 0.02, n: int = N) -> list[list[float]]:
    drawn = np.random.default_rng(seed).normal(0, spread, size=(n, 2))
    return (mean + drawn - drawn.mean()).tolist()


def results_of(means: dict[str, float], *, seed: int) -> dict:
    found = {
        name: cell_result(SPECS[name], scores_around(mean, seed=seed + place), in_set=N)
        for place, (name, mean) in enumerate(means.items())
        if name != "fundus.L5.no_finding"
    }
    found["fundus.L5.no_finding"] = cell_result(
        SPECS["fundus.L5.no_finding"], scores_around(-0.3, seed=seed, n=20), in_set=N, anchors=range(100, 120)
    )
    return found


GOOD = {
    "fundus.L1": 0.2,
    "fundus.L4": 0.1,
    "fundus.L4.report": 0.14,
    "fundus.L5": 0.02,
    "fundus.L5.hedged": -0.1,
    "fundus.L5.definite": 0.0,
}
BAD = dict.fromkeys(GOOD, -0.05)


@pytest.fixture(scope="module")
def board():
    results = {
        "good": results_of(GOOD, seed=1)
        | {QUESTIONS.name: question_result(QUESTIONS, accuracy=0.53, lower=0.51, upper=0.55)},
        "bad": results_of(BAD, seed=50)
        | {QUESTIONS.name: question_result(QUESTIONS, accuracy=0.52, lower=0.49, upper=0.55)},
        "twin": results_of(GOOD, seed=1),
    }
    return probe_board(SUITE, results, MATERIAL, suite_sha256=SHA, resamples=RESAMPLES)


def _cell(board, model: str, task: str):
    (found,) = [cell for cell in board.cells if (cell.model, cell.task) == (model, task)]
    return found


def test_the_document_holds_all_of_it(board):
    assert probe_board_from_json(probe_board_to_json(board)) == board
    assert board.models == ("bad", "good", "twin")
    assert (board.suite, board.version, board.suite_sha256, board.resamples) == ("medtec-made", "1", SHA, RESAMPLES)


def test_cells_have_means_classes_and_ranks(board):
    cell = _cell(board, "good", "fundus.L1")
    assert cell.ds == pytest.approx(0.2, abs=1e-6)
    # Patients have two anchors each: the normal interval rests on the means of patients.
    of_patients = np.array(scores_around(0.2, seed=1)).mean(axis=1).reshape(60, 2).mean(axis=1)
    assert cell.upper - cell.lower == pytest.approx(2 * 1.96 * of_patients.std() / np.sqrt(60), rel=0.15)
    assert cell.lower < cell.ds < cell.upper
    assert cell.cell_class == "discriminates"
    assert (cell.n_anchors, cell.n_clusters, cell.n_negatives_min, cell.n_negatives_max) == (120, 60, 8, 10)
    assert (cell.failure_rate, cell.pass_rate_adjusted, cell.ds_size_matched, cell.ds_scaled) == (0, 0.25, 0.125, 1.5)
    assert [(_cell(board, model, "fundus.L1").rank, _cell(board, model, "fundus.L1").tie_group) for model in board.models] == [
        (3, 3), (1, 1), (1, 1),
    ]  # fmt: skip
    assert _cell(board, "bad", "fundus.L1").cell_class == "collapse_certain"
    assert _cell(board, "good", "fundus.L5").cell_class == "near_chance"


def test_the_reversed_row_is_shown_and_never_pooled(board):
    cell = _cell(board, "good", "fundus.L5.no_finding")
    assert (cell.selection, cell.n_anchors, cell.n_clusters) == ("no_finding", 20, 10)
    assert cell.ds == pytest.approx(-0.3, abs=1e-6)
    (ceiling,) = [row for row in board.ceilings if row.model == "good"]
    assert ceiling.ceiling is None
    assert ceiling.levels == ("L1", "L4", "L5")
    assert {row.n_cells for row in board.negation} == {3}


def test_ceilings_styles_and_negation(board):
    assert [row.ceiling for row in board.ceilings if row.model == "bad"] == ["L1"]
    (spread,) = [row for row in board.styles if row.model == "good"]
    assert spread.styles == ("template", "report")
    assert spread.sd == pytest.approx(0.02, abs=1e-6)
    assert (board.style_summary.n_cells, board.style_summary.n_collapsing, board.style_summary.n_staying_below) == (
        3,
        1,
        1,
    )
    hedged = next(row for row in board.negation if row.subtype == "hedged")
    assert (hedged.is_weaker_only, hedged.n_collapse_certain) == (True, 3)
    definite = next(row for row in board.negation if row.subtype == "definite")
    assert (definite.is_weaker_only, definite.n_collapse_certain) == (False, 1)


def test_subgroups_and_sample_sizes(board):
    assert [(row.attribute, row.n_missing, row.n_anchors) for row in board.missing_attributes] == [
        ("sex", 0, N), ("age", 10, N), ("skin_tone", N, N),
    ]  # fmt: skip
    women = [row for row in board.subgroups if (row.model, row.level, row.group) == ("good", "L4", "female")]
    assert [row.n_anchors for row in women] == [60]
    assert {row.attribute for row in board.subgroup_gaps} == {"sex", "age"}
    gap = next(row for row in board.subgroup_gaps if (row.model, row.level, row.attribute) == ("good", "L1", "sex"))
    assert not gap.is_separated
    assert gap.lower < gap.gap < gap.upper
    assert {(row.n, row.level) for row in board.sample_size} == {(100, "L1"), (100, "L4"), (100, "L5")}


def test_questions_checks_and_blind_baselines(board):
    assert [(row.model, row.exceeds_chance) for row in board.closed_questions] == [("good", True), ("bad", False)]
    assert (board.closed_questions[0].n_without_rule, board.closed_questions[0].n_ties) == (7, 1)
    assert [row.n_on_both_sides for row in board.checks] == [0]
    blank = next(row for row in board.blind_baselines if (row.model, row.level, row.image) == ("good", "L1", "blank"))
    assert blank.ds == pytest.approx(-0.02)
    assert blank.null == pytest.approx(-0.39 * 0.05, abs=3e-4)
    assert blank.surplus == pytest.approx(-0.02 / 0.05 + 0.394, abs=1e-3)


def test_what_was_measured_on_other_data_is_left_out_and_named():
    spec = SPECS["fundus.L1"]
    results = {
        name: {spec.name: cell_result(spec, scores_around(0.1, seed=3), in_set=N, data=data)}
        for name, data in (("a", "old"), ("b", "new"), ("c", "old"))
    }
    board = probe_board(SUITE, results, MATERIAL, suite_sha256=SHA, resamples=20)
    assert [(row.model, row.task) for row in board.left_out] == [("b", "fundus.L1")]
    assert [cell.model for cell in board.cells] == ["a", "c"]
    results.pop("c")
    board = probe_board(SUITE, results, MATERIAL, suite_sha256=SHA, resamples=20)
    assert [row.model for row in board.left_out] == ["a"]


def test_a_board_without_results_is_empty():
    board = probe_board(SUITE, {}, MATERIAL, suite_sha256=SHA, resamples=20)
    assert board.cells == board.ceilings == board.styles == board.negation == board.blind_baselines == ()
    assert board.style_summary.n_cells == 0
    assert board.style_summary.sd_median is None
    assert probe_board_from_json(probe_board_to_json(board)) == board


def test_models_whose_cosines_are_constant_have_no_scale():
    spec = SPECS["fundus.L1"]
    result = cell_result(spec, [[0.0, 0.0]] * N, in_set=N, scaled=None)
    board = probe_board(SUITE, {"a": {spec.name: result}}, MATERIAL, suite_sha256=SHA, resamples=20)
    (cell,) = board.cells
    assert cell.ds_scaled is None
    assert (cell.ds, cell.lower, cell.upper, cell.cell_class) == (0, 0, 0, "collapse")


@pytest.mark.parametrize(
    ("results", "material", "error", "message"),
    [
        ({"a": {"fundus.L9": None}}, MATERIAL, TaskUnknown, "a has a result of fundus.L9"),
        (
            {"a": {"fundus.L1": cell_result(SPECS["fundus.L1"], [[0.1]], in_set=1)}},
            MATERIAL,
            ResultInvalid,
            "set of 1 anchors, but anchors/idrid.csv has 120",
        ),
        (
            {"a": {"fundus.L1": cell_result(SPECS["fundus.L1"], [[0.1]], in_set=1)}},
            BoardMaterial({}, {}, ()),
            DataMissing,
            "anchors/idrid.csv of fundus.L1",
        ),
    ],
)
def test_what_does_not_fit_is_named(results, material, error, message):
    with pytest.raises(error, match=message):
        probe_board(SUITE, results, material, suite_sha256=SHA, resamples=20)


L4 = cell_spec("fundus.L4", dataset="one")
RETRIEVAL = protocol_spec("fundus.retrieval", ProbeTaskKind.RETRIEVAL, dataset="two", modality=Modality.FUNDUS)
ZERO_SHOT = protocol_spec("fundus.zero_shot", ProbeTaskKind.ZERO_SHOT, dataset="one", modality=Modality.FUNDUS)
OTHER_L4 = cell_spec("fundus.L4@two", dataset="two")


def test_protocols_are_compared_on_main_data_and_on_shared_images():
    suite = suite_of(
        cell_spec("fundus.L5"), cell_spec("fundus.L4.report", dataset="one"), L4, RETRIEVAL, ZERO_SHOT, OTHER_L4
    )
    found = [(c.name, c.same_images, {name: spec.name for name, spec in c.tasks.items()}) for c in comparisons(suite)]
    assert found == [
        (
            "fundus",
            False,
            {"retrieval": "fundus.retrieval", "zero_shot": "fundus.zero_shot", "probing": "fundus.L4"},
        ),
        ("fundus@one", True, {"zero_shot": "fundus.zero_shot", "probing": "fundus.L4"}),
        ("fundus@two", True, {"retrieval": "fundus.retrieval", "probing": "fundus.L4@two"}),
    ]
    assert [c.name for c in comparisons(suite_of(L4, ZERO_SHOT))] == ["fundus"]
    assert comparisons(suite_of(L4)) == ()
    assert comparisons(suite_of()) == ()


def test_protocols_give_recall_area_and_score_under_shared_draws():
    generator = np.random.default_rng(7)
    n = 40
    patients = [number // 2 for number in range(n)]
    names = tuple(f"p{number}" for number in range(20))
    truth = generator.integers(0, 2, size=(n, 2))
    margins = {model: generator.normal(size=(n, 2)) + truth for model in "ab"}
    above = {model: generator.integers(0, 20, size=n) for model in "ab"}
    # Probing sees the same patients, in another order.
    backwards = anchor_set(clusters=[f"p{number // 2}" for number in reversed(range(n))], name="one")
    suite = suite_of(
        L4,
        ZERO_SHOT,
        protocol_spec("fundus.retrieval", ProbeTaskKind.RETRIEVAL, dataset="one", modality=Modality.FUNDUS),
    )
    (comparison,) = comparisons(suite)
    retrieval = comparison.tasks["retrieval"]
    results = {
        model: {
            L4.name: cell_result(L4, margins[model][::-1, :1], in_set=n),
            ZERO_SHOT.name: label_result(ZERO_SHOT, margins[model], truth, patients=patients),
            retrieval.name: retrieval_result(retrieval, above[model], patients=patients),
        }
        for model in "ab"
    }
    material = BoardMaterial(
        {"anchors/one.csv": backwards}, {ZERO_SHOT.data_path: names, retrieval.data_path: names}, ()
    )
    scores = protocol_scores(comparison, results, material, resamples=50)
    assert list(scores) == ["retrieval", "zero_shot", "probing"]
    for place, model in enumerate("ab"):
        assert scores["retrieval"].replicates[place, 0] == pytest.approx((above[model] < 10).mean())
        assert scores["zero_shot"].replicates[place, 0] == pytest.approx(
            np.mean([roc_auc_score(truth[:, label], margins[model][:, label]) for label in (0, 1)]), abs=1e-6
        )
        assert scores["probing"].replicates[place, 0] == pytest.approx(margins[model][:, 0].mean(), abs=1e-6)
    # The same patients are drawn in each protocol: recall of model a says which, and probing must agree. A protocol
    # whose value of an image is one number per patient shows the draw itself.
    marks = np.arange(n) // 2
    marked = {
        "a": {
            L4.name: cell_result(L4, [[mark / 100] for mark in marks[::-1]], in_set=n),
            retrieval.name: retrieval_result(retrieval, np.where(marks < 10, 0, 20), patients=patients),
        }
    }
    drawn = protocol_scores(comparison, marked, material, resamples=50)
    assert list(drawn) == ["retrieval", "probing"]
    correlation = np.corrcoef(drawn["retrieval"].replicates[0, 1:], drawn["probing"].replicates[0, 1:])[0, 1]
    assert correlation < -0.8


def test_patients_that_do_not_fit_are_named():
    suite = suite_of(ZERO_SHOT, L4)
    (comparison,) = comparisons(suite)
    results = {"a": {ZERO_SHOT.name: label_result(ZERO_SHOT, [[0.1], [0.2]], [[0], [1]], patients=[0, 1])}}
    with pytest.raises(DataMissing, match=r"patients of fundus\.zero_shot"):
        protocol_scores(comparison, results, BoardMaterial({}, {}, ()), resamples=5)
    with pytest.raises(ResultInvalid, match=r"measured on 2 patients, but zero_shot/one\.json has 1"):
        protocol_scores(comparison, results, BoardMaterial({}, {ZERO_SHOT.data_path: ("p",)}, ()), resamples=5)
