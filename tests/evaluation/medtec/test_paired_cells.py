"""Paired differences of a probing suite: by hand, and equal to what comparing two results finds."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.suites.medtec.comparison import compare_cells
from evaluation.suites.medtec.differences import paired_cells
from evaluation.suites.medtec.evidence import BoardMaterial
from tests.evaluation.medtec.made_results import anchor_set, cell_result, cell_spec, suite_of

N = 40
CLUSTERS = [f"p{number // 2}" for number in range(N)]
SPECS = {name: cell_spec(name) for name in ("fundus.L1", "fundus.L4", "fundus.L4.report")}
SUITE = suite_of(*SPECS.values())
MATERIAL = BoardMaterial({"anchors/idrid.csv": anchor_set(clusters=CLUSTERS)}, {}, ())


def results_of(seed: int, **shifts: float) -> dict:
    generator = np.random.default_rng(seed)
    return {
        name: cell_result(spec, (generator.normal(0, 0.1, size=(N, 2)) + shifts.get(spec.level, 0.0)).tolist(), in_set=N)
        for name, spec in SPECS.items()
    }  # fmt: skip


def pairs(results: dict, models: list[str], *, material: BoardMaterial = MATERIAL):
    return paired_cells(SUITE, results, material, models=models, resamples=400)


def test_each_main_cell_agrees_with_the_comparison_of_two_results() -> None:
    results = {"a": results_of(1, L1=0.2), "b": results_of(2), "c": results_of(3)}
    found = pairs(results, ["c", "a", "b"])
    assert [(one.a, one.b, one.level, one.n_cells) for one in found[:4]] == [
        ("a", "b", "", 2), ("a", "b", "L1", 1), ("a", "b", "L4", 1), ("a", "c", "", 2),
    ]  # fmt: skip
    assert len(found) == 9, "three pairs, two levels and their mean; other phrasings are no main cells"
    for one in (one for one in found if one.level):
        cells = compare_cells(SUITE, results[one.a], results[one.b], MATERIAL, resamples=400)
        (expected,) = [cell.estimate for cell in cells if cell.task == f"fundus.{one.level}"]
        assert (one.value, one.lower, one.upper) == pytest.approx((expected.value, expected.lower, expected.upper))


def test_a_modality_is_the_mean_over_its_main_cells() -> None:
    constant = {
        name: cell_result(spec, [[level]] * N, in_set=N)
        for (name, spec), level in zip(SPECS.items(), (0.5, 0.25, 9.0), strict=True)
    }
    zero = {name: cell_result(spec, [[0.0]] * N, in_set=N) for name, spec in SPECS.items()}
    mean, *_ = pairs({"a": constant, "b": zero}, ["a", "b"])
    # (0.5 + 0.25) / 2, the same in every resample
    assert (mean.value, mean.lower, mean.upper) == pytest.approx((0.375, 0.375, 0.375))


def test_only_shared_cells_and_chosen_models_are_compared() -> None:
    partial = {"fundus.L4": results_of(2)["fundus.L4"]}
    found = pairs({"a": results_of(1), "b": partial, "c": results_of(3)}, ["a", "b"])
    assert [(one.a, one.b, one.level, one.n_cells) for one in found] == [("a", "b", "", 1), ("a", "b", "L4", 1)]
    assert found[0].value == found[1].value
    assert pairs({"a": results_of(1)}, ["a"]) == ()


def test_a_single_patient_gives_no_interval() -> None:
    material = BoardMaterial({"anchors/idrid.csv": anchor_set(clusters=["p"] * N)}, {}, ())
    found = pairs({"a": results_of(1), "b": results_of(2)}, ["a", "b"], material=material)
    assert {(one.lower, one.upper) for one in found} == {(None, None)}


def test_results_of_other_data_are_not_paired() -> None:
    other = {name: replace(result, data_sha256="f" * 64) for name, result in results_of(2).items()}
    assert pairs({"b": other, "a": results_of(1), "c": results_of(3)}, ["a", "b"]) == ()
