"""A board's document says all, and nothing else passes."""

import copy
import dataclasses
import json

import pytest

from evaluation.errors import ResultInvalid
from evaluation.suites.medtec import board_rows
from evaluation.suites.medtec.board import SCHEMA_FILE, ProbeBoard, probe_board_from_json, probe_board_to_json

CELL = board_rows.ProbeCell(
    model="a",
    task="fundus.L5.hedged",
    modality="fundus",
    dataset="idrid",
    level="L5",
    style="template",
    subtype="hedged",
    selection="finding",
    ds=-0.02,
    lower=-0.03,
    upper=-0.01,
    cell_class="collapse_certain",
    failure_rate=0.75,
    pass_rate_adjusted=-0.1,
    ds_size_matched=0.01,
    ds_scaled=None,
    n_anchors=40,
    n_clusters=38,
    n_negatives_min=8,
    n_negatives_max=10,
    rank=1,
    rank_lower=1,
    rank_upper=2,
    tie_group=1,
)
BOARD = ProbeBoard(
    suite="medtec-mini",
    version="1",
    suite_sha256="0" * 64,
    seed=42,
    resamples=100,
    models=("a", "b"),
    left_out=(board_rows.LeftOut("b", "fundus.L4"),),
    cells=(CELL,),
    ceilings=(board_rows.Ceiling("a", "fundus", "idrid", None, ("L1", "L2")),),
    styles=(
        board_rows.StyleSpread("a", "fundus", "idrid", "L4", ("template", "report"), 0.01, -0.02, 0.0, True, True),
    ),
    style_summary=board_rows.StyleSummary(1, 1, 1, 0.01, 0.01, 0.01),
    negation=(board_rows.NegationCount("hedged", True, 1, 1, 1, -0.02),),
    subgroups=(
        board_rows.Subgroup(
            "a", "fundus", "idrid", "L4", "sex", "female", 0.1, None, None, "near_chance", n_anchors=1, n_clusters=1
        ),
    ),
    subgroup_gaps=(
        board_rows.SubgroupGap(
            "a", "fundus", "idrid", "L4", "sex", "female", "male", 0.1, -0.1, 0.3,
            is_separated=False, n_anchors=20, n_anchors_other=21,
        ),
    ),
    missing_attributes=(board_rows.MissingAttribute("fundus", "idrid", "age", 3, 40),),
    sample_size=(board_rows.SampleSize("a", "fundus", "idrid", "L4", 100, 0.1, 0.0, 0.2, 0.2, "discriminates"),),
    closed_questions=(
        board_rows.ClosedQuestions(
            "a", "vqa_rad.closed_questions", "vqa_rad", 0.53, 0.501, 0.56, 0.4,
            exceeds_chance=True, n_questions=1000, n_yes=500, n_no=500, n_ties=2, n_without_rule=191,
        ),
    ),
    protocols=(
        board_rows.ProtocolStanding("fundus", False, "probing", "fundus.L4", "ds", "a", 0.1, 1),
    ),
    agreements=(
        board_rows.ProtocolAgreement("fundus", False, "probing", "retrieval", None, None, None, 2),
    ),
    checks=(
        board_rows.ProbeCheck("fundus", "L4", "template", None, "all", 9, 4, 8, 8, 0.5, 3.0, 2.5, 12, 70, 40, 0),
    ),
    blind_baselines=(
        board_rows.BlindBaseline("a", "fundus.L4", "fundus", "L4", "blank", -0.01, -0.02, 0.3),
    ),
)  # fmt: skip


def test_a_board_survives_its_document():
    document = json.loads(json.dumps(probe_board_to_json(BOARD)))
    assert probe_board_from_json(document) == BOARD


def test_the_schema_asks_for_every_field_of_every_row_and_no_other():
    definitions = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))["$defs"]
    rows = [kind for kind in vars(board_rows).values() if dataclasses.is_dataclass(kind)]
    assert len(rows) == 15
    for kind in rows:
        definition = definitions[kind.__name__[0].lower() + kind.__name__[1:]]
        names = [field.name for field in dataclasses.fields(kind)]
        assert definition["required"] == names
        assert list(definition["properties"]) == names
        assert definition["additionalProperties"] is False


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [
        ("cells", "ds", 2.5),
        ("cells", "cell_class", "weak"),
        ("cells", "rank", 0),
        ("cells", "subtype", "denied"),
        ("ceilings", "levels", []),
        ("subgroups", "attribute", "weight"),
        ("agreements", "tau", 1.1),
        ("closed_questions", "yes_rate", None),
        ("checks", "n_probes", -1),
        ("blind_baselines", "image", "grey"),
    ],
)
def test_a_wrong_value_is_named(table, field, value):
    document = copy.deepcopy(probe_board_to_json(BOARD))
    document[table][0][field] = value
    with pytest.raises(ResultInvalid, match=rf"\$\.{table}\[0\]\.{field}"):
        probe_board_from_json(document)


def test_an_unknown_table_is_refused():
    with pytest.raises(ResultInvalid, match="surprise"):
        probe_board_from_json(probe_board_to_json(BOARD) | {"surprise": []})


def test_a_number_that_json_cannot_hold_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        probe_board_to_json(dataclasses.replace(BOARD, cells=(dataclasses.replace(CELL, ds=float("nan")),)))
