"""Each analysis on tables small enough to work out by hand."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import SuiteInvalid
from evaluation.probe_types import Probe, ProbeSet, ProbeTaskSpec
from evaluation.statistics.bootstrap import FloatArray
from evaluation.suites.medtec.analyses.checks import mean_null, probe_checks, with_null
from evaluation.suites.medtec.analyses.closed_questions import closed_question_table
from evaluation.suites.medtec.analyses.facts import task_facts
from evaluation.suites.medtec.analyses.intervals import with_intervals
from evaluation.suites.medtec.analyses.levels import ceilings, level_profile
from evaluation.suites.medtec.analyses.negation import negation_counts
from evaluation.suites.medtec.analyses.protocols import ProtocolScores, protocol_agreements, protocol_rankings
from evaluation.suites.medtec.analyses.sample_size import sample_size_table, subsample_order
from evaluation.suites.medtec.analyses.styles import style_spread, style_summary
from evaluation.suites.medtec.analyses.subgroups import group_members, missing_attributes, subgroup_tables
from evaluation.vocabulary import AnchorSelection, Level, Modality, NegationSubtype, PhrasingStyle, ProbeTaskKind


def resample(values: FloatArray, *, clusters: np.ndarray, resamples: int = 400) -> FloatArray:
    """Index resampling of whole clusters, written out: slow, plain, and independent of the library."""
    names = sorted(set(clusters))
    generator = np.random.default_rng(5)
    draws = [np.arange(len(clusters))]
    for _ in range(resamples):
        taken = generator.integers(0, len(names), size=len(names))
        draws.append(np.concatenate([np.flatnonzero(clusters == names[place]) for place in taken]))
    means = np.full((len(values), len(draws)), np.nan)
    for column, images in enumerate(draws):
        for row, scores in enumerate(values[:, images]):
            if np.isfinite(scores).any():
                means[row, column] = np.nanmean(scores)
    return means


def cells_of(*rows: tuple, columns: tuple[str, ...]) -> pd.DataFrame:
    facts = {"model": "a", "modality": "fundus", "dataset": "idrid", "is_counted": True}
    return pd.DataFrame([facts | dict(zip(columns, row, strict=True)) for row in rows])


def spec(name: str, **changes) -> ProbeTaskSpec:
    facts = {
        "name": name,
        "title": name,
        "kind": ProbeTaskKind.CELL,
        "modality": Modality.FUNDUS,
        "level": Level.L5,
        "style": PhrasingStyle.TEMPLATE,
        "subtype": NegationSubtype.MIXED,
        "selection": AnchorSelection.FINDING,
        "dataset": "idrid",
        "data_path": "anchors/idrid.csv",
        "probes_sha256": "0" * 64,
        "licence": "",
        "images_may_be_shown": False,
    }
    return ProbeTaskSpec(**facts | changes)


def test_main_and_counted_cells():
    facts = task_facts(
        [
            spec("fundus.L5"),
            spec("fundus.L5@other", dataset="other"),
            spec("fundus.L5.hedged", subtype=NegationSubtype.HEDGED),
            spec("fundus.L5.report", style=PhrasingStyle.REPORT),
            spec("fundus.L5.no_finding", selection=AnchorSelection.NO_FINDING),
            spec("breast_ultrasound.L1", modality=Modality.BREAST_ULTRASOUND, level=Level.L1, subtype=None),
        ]
    ).set_index("task")
    assert list(facts.index[facts["is_main"]]) == ["fundus.L5", "fundus.L5@other", "breast_ultrasound.L1"]
    assert list(facts.index[~facts["is_counted"]]) == ["fundus.L5@other", "breast_ultrasound.L1"]


def test_intervals_and_classes():
    cells = pd.DataFrame({"n_clusters": [3, 3, 1]})
    replicates = np.array([[0.2, *np.linspace(0, 1, 101)], [-0.2, *np.linspace(-1, 0, 101) - 0.1], [0.3] * 102])
    table = with_intervals(cells, replicates)
    assert table["ds"].tolist() == [0.2, -0.2, 0.3]
    assert table.loc[0, "lower"] == pytest.approx(0.025)
    assert table.loc[0, "upper"] == pytest.approx(0.975)
    assert table["cell_class"].tolist() == ["discriminates", "collapse_certain", "near_chance"]
    assert table.loc[2, "lower"] is None


def test_ceiling_is_the_first_collapse():
    columns = ("level", "is_main", "cell_class")
    cells = cells_of(
        ("L4", True, "collapse"),
        ("L3", True, "near_chance"),
        ("L1", True, "discriminates"),
        ("L1", False, "collapse"),
        ("L5", True, "collapse_certain"),
        columns=columns,
    )
    others = cells_of(("L1", True, "discriminates"), columns=columns).assign(model="b")
    profile = level_profile(pd.concat([cells, others]))
    found = ceilings(profile)
    assert found["model"].tolist() == ["a", "b"]
    assert found["ceiling"].tolist() == ["L4", None]
    assert found["levels"].tolist() == [("L1", "L3", "L4", "L5"), ("L1",)]


STYLE_COLUMNS = ("level", "style", "subtype", "selection", "ds")


def test_style_spread_and_who_stays_below():
    finding = "finding"
    cells = cells_of(
        # Mean -0.01, deviations -0.01, 0.03, -0.03, 0.01: variance 0.0005.
        ("L4", "template", None, finding, -0.02),
        ("L4", "report", None, finding, 0.02),
        ("L4", "ontology", None, finding, -0.04),
        ("L4", "paraphrase", None, finding, 0.0),
        ("L5", "template", "mixed", finding, 0.0),
        ("L5", "report", "mixed", finding, 0.05),
        ("L5", "report", "hedged", finding, 9.0),
        ("L5", "report", "mixed", "no_finding", 9.0),
        ("L1", "template", None, "all", 9.0),
        columns=STYLE_COLUMNS,
    )
    spread = style_spread(cells)
    assert spread["level"].tolist() == ["L4", "L5"]
    assert spread.loc[0, "sd"] == pytest.approx(np.sqrt(0.0005))
    assert spread.loc[1, "sd"] == pytest.approx(0.025)
    assert spread["collapses_under_template"].tolist() == [True, True]
    assert spread["stays_below"].tolist() == [True, False]
    summary = style_summary(spread).iloc[0]
    assert (summary["n_cells"], summary["n_collapsing"], summary["n_staying_below"]) == (2, 2, 1)
    assert summary["sd_highest"] == pytest.approx(0.025)


def test_cells_of_one_style_have_no_spread():
    cells = cells_of(("L4", "template", None, "finding", 0.1), columns=STYLE_COLUMNS)
    spread = style_spread(cells)
    assert spread.empty
    assert style_summary(spread).iloc[0]["n_cells"] == 0


def test_styles_of_extra_modalities_are_shown_but_not_counted():
    cells = cells_of(
        ("L4", "template", None, "finding", -0.1), ("L4", "report", None, "finding", -0.1), columns=STYLE_COLUMNS
    ).assign(is_counted=False)
    spread = style_spread(cells)
    assert len(spread) == 1
    assert style_summary(spread).iloc[0]["n_cells"] == 0


def test_negation_counts():
    columns = ("level", "style", "subtype", "selection", "is_counted", "ds", "cell_class")
    cells = cells_of(
        ("L5", "template", "hedged", "finding", True, -0.2, "collapse_certain"),
        ("L5", "template", "hedged", "finding", True, -0.1, "collapse"),
        ("L5", "template", "definite", "finding", True, 0.1, "discriminates"),
        ("L5", "template", "definite", "finding", False, -0.1, "collapse_certain"),
        ("L5", "template", "mixed", "finding", True, -0.1, "collapse_certain"),
        ("L5", "template", "definite", "no_finding", True, -0.1, "collapse_certain"),
        columns=columns,
    )
    counts = negation_counts(cells)
    assert counts["subtype"].tolist() == ["definite", "hedged"]
    assert counts["is_weaker_only"].tolist() == [False, True]
    assert counts["n_cells"].tolist() == [1, 2]
    assert counts["n_collapse_certain"].tolist() == [0, 1]
    assert counts["n_collapsing"].tolist() == [0, 2]
    assert counts["ds_mean"].tolist() == pytest.approx([0.1, -0.15])


def test_only_an_interval_above_one_half_exceeds_chance():
    measured = pd.DataFrame(
        {
            "model": ["a", "b", "c"],
            "task": "q",
            "balanced_accuracy": [0.51, 0.53, 0.6],
            "lower": pd.Series([0.5, 0.501, None], dtype=object),
            "upper": pd.Series([0.52, 0.56, None], dtype=object),
        }
    )
    table = closed_question_table(measured).set_index("model")
    assert list(table.index) == ["c", "b", "a"]
    assert table["exceeds_chance"].to_dict() == {"a": False, "b": True, "c": False}


ANCHORS = pd.DataFrame(
    {
        "sex": ["female", "female", "male", "male", "", "male"],
        "age": [39.9, 40.0, 59.9, 60.0, None, 85.0],
        "skin_tone": ["I", "II", "III", "", "VI", "V"],
        "cluster": ["p1", "p2", "p3", "p4", "p5", "p3"],
    }
)


def test_group_members():
    members = group_members(ANCHORS)
    missing = missing_attributes(members)
    members = members.where(members.notna(), None)
    assert members["sex"].tolist() == ["female", "female", "male", "male", None, "male"]
    assert members["age"].tolist() == ["under_40", "40_to_59", "40_to_59", "60_and_over", None, "60_and_over"]
    assert members["skin_tone"].tolist() == ["I-II", "I-II", "III-IV", None, "V-VI", "V-VI"]
    assert missing["n_missing"].tolist() == [1, 1, 1]
    assert missing["n_anchors"].tolist() == [6, 6, 6]


def test_an_unknown_skin_tone_is_named():
    with pytest.raises(SuiteInvalid, match="'7' is no Fitzpatrick skin type"):
        group_members(ANCHORS.assign(skin_tone="7"))


def test_subgroups_and_their_gap():
    cells = cells_of(("L1",), ("L4",), columns=("level",))
    copies = 5
    anchors = pd.concat([ANCHORS.assign(cluster=ANCHORS["cluster"] + f".{copy}") for copy in range(copies)])
    one = [[0.1, 0.3, 0.0, 0.2, 9.0, 0.4], [np.nan, 0.5, 0.1, np.nan, 9.0, np.nan]]
    scores = np.tile(one, copies)
    draw = partial(resample, clusters=anchors["cluster"].to_numpy())
    table, gaps = subgroup_tables(cells, scores, anchors.reset_index(drop=True), resample=draw)
    sex = table[table["attribute"] == "sex"].set_index(["level", "group"])
    assert sex["ds"].to_dict() == pytest.approx(
        {("L1", "female"): 0.2, ("L1", "male"): 0.2, ("L4", "female"): 0.5, ("L4", "male"): 0.1}
    )
    assert sex.loc[("L1", "male"), "n_anchors"] == 3 * copies
    assert sex.loc[("L1", "male"), "n_clusters"] == 2 * copies
    skin = table[table["attribute"] == "skin_tone"]
    assert set(skin["level"]) == {"L1"}
    assert skin["group"].tolist() == ["I-II", "III-IV", "V-VI"]
    found = gaps[(gaps["attribute"] == "sex") & (gaps["level"] == "L1")].iloc[0]
    assert (found["group"], found["other"]) == ("female", "male")
    assert found["gap"] == pytest.approx(0.0)
    women, men = draw(np.tile([[0.1, 0.3] + [np.nan] * 4, [np.nan, np.nan, 0.0, 0.2, np.nan, 0.4]], copies))
    expected = np.quantile((women - men)[1:], [0.025, 0.975])
    assert (found["lower"], found["upper"]) == pytest.approx(tuple(expected))
    assert not found["is_separated"]
    assert len(gaps[(gaps["attribute"] == "age") & (gaps["level"] == "L1")]) == 3


def test_one_patient_has_no_interval():
    anchors = pd.DataFrame({"sex": ["female", "male", "male"], "age": np.nan, "skin_tone": "", "cluster": list("pqr")})
    draw = partial(resample, clusters=anchors["cluster"].to_numpy())
    table, gaps = subgroup_tables(
        cells_of(("L1",), columns=("level",)), np.array([[0.5, 0.1, 0.2]]), anchors, resample=draw
    )
    assert table.loc[0, "lower"] is None
    assert table.loc[0, "cell_class"] == "near_chance"
    assert gaps.loc[0, "gap"] == pytest.approx(0.35)
    assert gaps.loc[0, "lower"] is None
    assert not gaps.loc[0, "is_separated"]


def test_a_gap_of_far_groups_is_separated():
    anchors = pd.DataFrame(
        {
            "sex": ["female", "male"] * 20,
            "age": np.nan,
            "skin_tone": "",
            "cluster": [f"p{number}" for number in range(40)],
        }
    )
    scores = np.where(anchors["sex"] == "female", 0.3, 0.1)[np.newaxis] + np.linspace(-0.01, 0.01, 40)
    draw = partial(resample, clusters=anchors["cluster"].to_numpy())
    table, gaps = subgroup_tables(cells_of(("L1",), columns=("level",)), scores, anchors, resample=draw)
    assert set(table["attribute"]) == {"sex"}
    assert len(gaps) == 1
    assert gaps.loc[0, "gap"] == pytest.approx(0.2, abs=1e-3)
    assert gaps.loc[0, "is_separated"]


def test_without_attributes_there_are_no_subgroups():
    anchors = pd.DataFrame({"sex": ["", ""], "age": [None, None], "skin_tone": ["", ""], "cluster": ["p", "q"]})
    table, gaps = subgroup_tables(
        cells_of(("L1",), columns=("level",)), np.ones((1, 2)), anchors, resample=lambda values: values
    )
    assert table.empty
    assert gaps.empty


def test_sample_sizes_are_nested_and_only_as_large_as_there_are_anchors():
    n = 300
    scores = np.random.default_rng(2).normal(0.1, 0.05, size=(2, n))
    scores[1, 120:] = np.nan
    clusters = np.array([f"p{number // 2}" for number in range(n)])
    asked = []

    def draw(values: FloatArray) -> FloatArray:
        asked.append(values)
        return resample(values, clusters=clusters)

    table = sample_size_table(
        cells_of(("L1",), ("L4",), columns=("level",)), scores, name="idrid", clusters=clusters, resample=draw
    )
    assert table[["level", "n"]].to_numpy().tolist() == [["L1", 100], ["L1", 250], ["L4", 100]]
    (values,) = asked
    taken = [set(np.flatnonzero(np.isfinite(row))) for row in values]
    assert [len(found) for found in taken] == [100, 250, 100]
    assert taken[0] < taken[1]
    assert table.loc[0, "ds"] == pytest.approx(scores[0, sorted(taken[0])].mean())
    assert table.loc[0, "width"] > table.loc[1, "width"]
    assert table.loc[0, "width"] == pytest.approx(table.loc[0, "upper"] - table.loc[0, "lower"])
    # 100 images of sd 0.05, nearly all of their own patient: 2 * 1.96 * 0.05 / sqrt(100).
    assert table.loc[0, "width"] == pytest.approx(0.0196, rel=0.3)


def test_few_anchors_have_no_sample_sizes():
    table = sample_size_table(
        cells_of(("L1",), columns=("level",)), np.ones((1, 99)), name="x", clusters=np.arange(99), resample=np.copy
    )
    assert table.empty
    assert "width" in table.columns


@given(st.integers(1, 500), st.text(min_size=1, max_size=5))
def test_the_order_of_subsamples_holds_every_anchor_once_and_repeats(n, name):
    order = subsample_order(name, n)
    assert sorted(order) == list(range(n))
    assert (subsample_order(name, n) == order).all()


def _protocol(values: dict[str, list[float]], task: str = "t") -> ProtocolScores:
    return ProtocolScores(task, "m", tuple(values), np.array(list(values.values())))


def test_rankings_and_agreement_of_protocols():
    scores = {
        "retrieval": _protocol({"a": [0.3, 0.3, 0.3], "b": [0.2, 0.2, 0.4], "c": [0.1, 0.1, 0.1], "d": [9, 9, 9]}),
        "probing": _protocol({"c": [0.5, 0.5, 0.5], "b": [0.4, 0.4, 0.4], "a": [0.4, 0.3, 0.3]}),
    }
    rankings = protocol_rankings(scores)
    assert rankings[["protocol", "model", "rank"]].to_numpy().tolist() == [
        ["retrieval", "a", 1], ["retrieval", "b", 2], ["retrieval", "c", 3],
        ["probing", "c", 1], ["probing", "a", 2], ["probing", "b", 2],
    ]  # fmt: skip
    found = protocol_agreements(scores).iloc[0]
    # a > b > c against c > (a = b): two of two comparable pairs are reversed: -2 / sqrt(3 * 2).
    assert found["tau"] == pytest.approx(-2 / np.sqrt(6))
    # Resamples: a > b > c against c > b > a is -1; b > a > c against c > b > a is -1 / 3.
    assert found["lower"] == pytest.approx(np.quantile([-1, -1 / 3], 0.025))
    assert found["upper"] == pytest.approx(np.quantile([-1, -1 / 3], 0.975))
    assert found["n_models"] == 3


def test_resamples_without_a_value_do_not_count():
    one = _protocol({"a": [1.0, np.nan, 1.0, 2.0], "b": [2.0, 1.0, 1.0, 1.0]})
    other = _protocol({"a": [1.0, 2.0, 1.0, 2.0], "b": [2.0, 1.0, 2.0, 1.0]})
    found = protocol_agreements({"retrieval": one, "probing": other}).iloc[0]
    assert (found["tau"], found["lower"], found["upper"]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    "scores",
    [
        {},
        {"retrieval": _protocol({"a": [1.0], "b": [2.0]})},
        {"retrieval": _protocol({"a": [1.0]}), "probing": _protocol({"a": [1.0]})},
    ],
)
def test_nothing_to_compare(scores):
    assert protocol_rankings(scores).empty
    assert protocol_agreements(scores).empty


def test_equal_models_have_no_tau():
    scores = {
        "retrieval": _protocol({"a": [1.0, 1.0], "b": [1.0, 2.0]}),
        "probing": _protocol({"a": [1.0, 1], "b": [2, 2]}),
    }
    found = protocol_agreements(scores).iloc[0]
    assert found["tau"] is None
    assert found["upper"] is None


def test_checks_of_a_probe_set():
    probes = ProbeSet(
        Modality.FUNDUS, Level.L4, PhrasingStyle.TEMPLATE, None, AnchorSelection.ALL, "1",
        (
            Probe("x", "t1", ("a b", "a b c d"), ("a b c", "a b c d e", "a b"), "s"),
            Probe("y", "t1", ("a", "q r"), ("a b c d", "q r"), "s"),
        ),
        "0" * 64,
    )  # fmt: skip
    row = probe_checks([probes]).iloc[0]
    assert row["n_positives"] == 2
    assert (row["n_negatives_min"], row["n_negatives_max"]) == (2, 3)
    # The first probe has 3 words against 10 / 3, the second 1.5 against 3.
    assert row["words_difference"] == pytest.approx(-(1 / 3 + 1.5) / 2)
    assert row["words_difference_highest"] == pytest.approx(1.5)
    # In characters the first probe has 17 / 3 against 5, the second 10 / 2 against 2.
    assert row["characters_difference"] == pytest.approx(-(2 / 3 + 3) / 2)
    assert (row["longest_words"], row["longest_characters"]) == (5, 9)
    # Five words of one letter, a start and an end.
    assert row["tokens_at_most"] == 7
    # "a b" in the first probe and "q r" in the second.
    assert row["n_on_both_sides"] == 2


def test_the_null_of_a_blind_image_scales_with_the_spread():
    assert mean_null(np.full((3, 2), 4.0), np.array([[8.0, 8], [8, 10], [10, 10]])) == pytest.approx(-0.45, abs=0.005)
    blind = pd.DataFrame({"ds": [-0.01, -0.02, 0.0], "mean_null": [-0.5, -0.4, -0.4], "spread": [0.02, 0.1, 0.0]})
    found = with_null(blind)
    assert found["null"].tolist() == pytest.approx([-0.01, -0.04, 0.0])
    assert found["surplus"].tolist()[:2] == pytest.approx([0.0, 0.2])
    assert np.isnan(found.loc[2, "surplus"])
