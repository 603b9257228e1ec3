"""Plots that can be read by people and programs: titles, a mark for each model, safe colours, equal bytes."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from evaluation.suites.medtec import board_rows
from evaluation.suites.medtec.plots.board_plots import write_board_plots
from evaluation.suites.medtec.plots.canvas import PALETTE, model_styles, spaced
from tests.evaluation.medtec.test_probe_board import BOARD, CELL

SVG = "{http://www.w3.org/2000/svg}"
MODELS = ("a", "b", "c & <d>")
# Okabe and Ito, Color Universal Design, 2008.
OKABE_ITO = {"#000000", "#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}


def _cells() -> tuple[board_rows.ProbeCell, ...]:
    main = [
        replace(
            CELL,
            model=model,
            task=f"fundus.{level}",
            level=level,
            subtype="mixed" if level == "L5" else None,
            ds=ds,
            lower=ds - 0.02,
            upper=ds + 0.02,
        )
        for place, model in enumerate(MODELS)
        for level, ds in (("L1", 0.2 + place / 10), ("L4", 0.05), ("L5", -0.1))
    ]
    styled = [replace(cell, style="report") for cell in main if cell.level == "L4"]
    reversed_row = replace(CELL, model="a", selection="no_finding", subtype="mixed", task="fundus.L5.no_finding")
    return (*main, *styled, CELL, reversed_row)


def _per_model(rows: tuple, **changes) -> tuple:
    return tuple(replace(row, model=model, **changes) for row in rows for model in MODELS)


DRAWN = replace(
    BOARD,
    models=MODELS,
    cells=_cells(),
    styles=_per_model(BOARD.styles),
    subgroup_gaps=_per_model(BOARD.subgroup_gaps),
    sample_size=(*_per_model(BOARD.sample_size), *_per_model(BOARD.sample_size, n=250)),
    closed_questions=_per_model(BOARD.closed_questions),
    protocols=tuple(
        replace(row, model=model, protocol=protocol, rank=1 + (place + shift) % 3)
        for row in BOARD.protocols
        for shift, protocol in enumerate(("retrieval", "zero_shot", "probing"))
        for place, model in enumerate(MODELS)
    ),
    blind_baselines=_per_model(BOARD.blind_baselines),
)


@pytest.fixture(scope="module")
def plots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plots")
    return {path.name: path for path in write_board_plots(DRAWN, folder)}


def _identifiers(path) -> list[str]:
    return [element.get("id", "") for element in ET.parse(path).iter()]  # noqa: S314 -- our own file


STEMS = [
    "levels-fundus-idrid",
    "styles-fundus-idrid",
    "negation",
    "questions-vqa_rad.closed_questions",
    "subgroups-sex-fundus-idrid",
    "sample-size-fundus-idrid",
    "protocols-fundus",
    "checks",
]


def test_every_analysis_has_a_plot_in_both_formats(plots):
    assert list(plots) == [f"{stem}.{ending}" for stem in STEMS for ending in ("svg", "png")]


@pytest.mark.parametrize("stem", STEMS)
def test_a_plot_says_what_it_is_in_safe_colours(plots, stem):
    path = plots[f"{stem}.svg"]
    root = ET.parse(path).getroot()  # noqa: S314 -- our own file
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    children = [child.tag for child in root[:2]]
    assert children == [f"{SVG}title", f"{SVG}desc"]
    assert root[0].text
    assert len(root[1].text) > 20
    colours = {colour.lower() for colour in re.findall(r"#[0-9a-fA-F]{6}", path.read_text(encoding="utf-8"))}
    greys = {colour for colour in colours if len({colour[1:3], colour[3:5], colour[5:7]}) == 1}
    assert colours - greys <= OKABE_ITO
    with Image.open(plots[f"{stem}.png"]) as image:
        image.load()
        assert image.width > 500


@pytest.mark.parametrize(
    ("stem", "suffix"),
    [
        ("levels-fundus-idrid", ""),
        ("styles-fundus-idrid", "-L4-report"),
        ("questions-vqa_rad.closed_questions", ""),
        ("subgroups-sex-fundus-idrid", "-0-L4"),
        ("sample-size-fundus-idrid", "-L4"),
        ("protocols-fundus", ""),
        ("checks", "-fundus.L4-blank"),
    ],
)
def test_each_model_has_one_mark(plots, stem, suffix):
    marks = [name for name in _identifiers(plots[f"{stem}.svg"]) if re.fullmatch(rf"model-\d+{suffix}", name)]
    assert sorted(marks) == [f"model-{place}{suffix}" for place in range(len(MODELS))]


@pytest.mark.parametrize("stem", STEMS)
def test_no_mark_has_the_name_of_another(plots, stem):
    names = [name for name in _identifiers(plots[f"{stem}.svg"]) if name]
    assert len(names) == len(set(names))


def test_polygons_mark_zero_and_every_level(plots):
    names = _identifiers(plots["levels-fundus-idrid.svg"])
    assert names.count("zero-circle") == 1
    assert [name for name in names if name.startswith("level-")] == ["level-L1", "level-L4", "level-L5"]
    description = ET.parse(plots["levels-fundus-idrid.svg"]).getroot()[1].text  # noqa: S314 -- our own file
    assert "c & <d> L1 0.400" in description


def test_hedged_negation_has_its_bars(plots):
    names = _identifiers(plots["negation.svg"])
    assert {"subtype-hedged-certain", "subtype-hedged-any"} <= set(names)


def test_equal_boards_give_equal_files(plots, tmp_path):
    again = write_board_plots(DRAWN, tmp_path)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in plots.values()]


def test_a_board_without_results_has_the_checks_alone(tmp_path):
    empty = replace(
        BOARD, cells=(), styles=(), negation=(), subgroup_gaps=(), sample_size=(), closed_questions=(), protocols=(),
        blind_baselines=(),
    )  # fmt: skip
    assert [path.name for path in write_board_plots(empty, tmp_path)] == ["checks.svg", "checks.png"]


def test_the_palette_is_okabe_and_ito():
    assert {colour.lower() for colour in PALETTE} == OKABE_ITO


def test_more_models_than_colours_differ_in_marker():
    styles = model_styles(f"m{number}" for number in range(30))
    assert len({(style.colour, style.marker) for style in styles.values()}) == 30


def test_marks_are_spread_evenly():
    assert spaced(0) == []
    assert spaced(1) == [0.0]
    assert spaced(3) == pytest.approx([-0.35, 0, 0.35])
