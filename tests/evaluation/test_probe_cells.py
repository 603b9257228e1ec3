"""Cells of the probing suite for embedders whose geometry is known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.embedders.chance import ChanceEmbedder
from evaluation.embedding.encode import embed_inputs
from evaluation.errors import SuiteInvalid
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.probe import evaluate_probe_task
from evaluation.evaluators.probe_scores import cosines
from evaluation.hashing import FileHashes
from evaluation.metrics.discrimination import ceiling, cell_class
from evaluation.suites.medtec.cell_tasks import cell_task, main_texts
from evaluation.suites.medtec.input_numbers import InputNumbers
from evaluation.vocabulary import AnchorSelection, CellClass, Level, NegationSubtype, PhrasingStyle
from tests.evaluation.probing import (
    anchor_set,
    bag_of_words,
    cell_spec,
    full_metric,
    metric,
    probe,
    probe_set,
    score,
    with_cosines,
)

# Cosines of each text with the images of an edema (first) and of two pneumonias.
TABLE = {
    "edema a": [0.5, 0.0, 0.1],
    "edema b": [0.2, 0.1, 0.0],
    "edema c": [0.3, 0.0, 0.0],
    "edema d": [0.1, 0.3, 0.0],
    "pneumonia a": [0.3, 0.4, 0.2],
    "pneumonia b": [0.1, 0.2, 0.3],
    "pneumonia c": [0.4, 0.1, 0.1],
    "pneumonia d": [0.0, 0.2, 0.0],
    "fracture": [0.1, 0.1, 0.5],
}
FINDINGS = probe_set(
    Level.L4,
    [
        probe("edema", "first", ["edema a", "edema b"], ["pneumonia a", "pneumonia b", "fracture"]),
        probe("edema", "second", ["edema c", "edema d"], ["pneumonia c", "pneumonia d", "fracture"]),
        probe("pneumonia", "first", ["pneumonia a", "pneumonia b"], ["edema a", "fracture"]),
        probe("pneumonia", "second", ["pneumonia c", "pneumonia d"], ["edema c", "edema d"]),
    ],
)


@pytest.fixture
def hand_result(tmp_path):
    return score(tmp_path, FINDINGS, anchor_set(tmp_path, ["edema", "pneumonia", "pneumonia"]), with_cosines(TABLE))


def test_scores_of_every_image_and_template_on_paper(hand_result):
    # edema: .5 - .3, .3 - .4; first pneumonia: .4 - .1, .2 - .3; second: .3 - .5, .1 - 0
    expected = [[0.2, -0.1], [0.3, -0.1], [-0.2, 0.1]]
    assert hand_result.arrays["ds"] == pytest.approx(np.array(expected), abs=1e-6)
    assert hand_result.arrays["anchors"].tolist() == [0, 1, 2]


def test_figures_of_the_cell_on_paper(hand_result):
    # image means .05, .1, -.05
    assert metric(hand_result, "ds") == pytest.approx(0.1 / 3, abs=1e-6)
    assert metric(hand_result, "failure_rate") == pytest.approx(1 / 3)
    assert metric(hand_result, "pass_rate") == pytest.approx(1 / 2)
    # edema 2/5, pneumonia 1/2 each
    assert metric(hand_result, "pass_rate_chance") == pytest.approx((2 / 5 + 1 / 2 + 1 / 2) / 3)
    assert metric(hand_result, "pass_rate_adjusted") == pytest.approx((1 / 2 - 7 / 15) / (1 - 7 / 15))
    # two of {.3, .1, .1}: (.3 + .3 + .1) / 3; two of {.4, 0, .1}: (.4 + .4 + .1) / 3
    edema = ((0.5 - 0.7 / 3) + (0.3 - 0.9 / 3)) / 2
    assert metric(hand_result, "ds_size_matched") == pytest.approx((edema + 0.1 - 0.05) / 3, abs=1e-6)
    spread = np.std(np.array(list(TABLE.values())))
    assert metric(hand_result, "ds_scaled") == pytest.approx(0.1 / 3 / spread, abs=1e-5)
    assert hand_result.arrays["scale"] == pytest.approx([spread], abs=1e-6)
    found = full_metric(hand_result, "ds")
    assert found.lower < found.value < found.upper
    assert hand_result.counts == {
        "anchors": 3,
        "anchors_in_set": 3,
        "clusters": 3,
        "concepts": 2,
        "templates": 2,
        "negatives_min": 2,
        "negatives_max": 3,
        "left_out": 0,
    }


def test_images_that_show_nothing_are_probed_too(hand_result):
    # both lie in directions of their own, so all their cosines are 0
    assert (metric(hand_result, "ds_blank"), metric(hand_result, "ds_noise")) == (0, 0)
    assert hand_result.arrays["blind_ds"].shape == hand_result.arrays["blind_spread"].shape == (2, 2, 2)


def test_intervals_resample_patients(tmp_path):
    """With all images of one patient there is nothing to resample."""
    anchors = anchor_set(tmp_path, ["edema", "pneumonia", "pneumonia"])
    one = replace(anchors, anchors=tuple(replace(anchor, cluster="one") for anchor in anchors.anchors))
    found = full_metric(score(tmp_path, FINDINGS, one, with_cosines(TABLE)), "ds")
    assert (found.value, found.lower, found.upper) == (pytest.approx(0.1 / 3, abs=1e-6), None, None)


WORDS = {
    "chest": "chest",
    "thorax": "chest",
    "radiograph": "radiograph",
    "radiogram": "radiograph",
    "pneumonia": "pneumonia",
    "edema": "edema",
    "effusion": "effusion",
    "fracture": "fracture",
    "present": "present",
}
NEGATIONS = ("no", "without", "never", "excluded", "absent")
LABELS = ("pneumonia", "edema", "effusion", "fracture")


def sentences(*subjects):
    return [f"{subject} {place}" for subject in subjects for place in ("radiograph", "radiogram")]


def five_levels():
    """Probes at every level; negations are the finding with a negating word around it."""
    modality = "chest_radiograph"
    levels = [
        probe_set(Level.L1, [probe(modality, "t", sentences("chest", "thorax"), ["guitar", "teapot", "banana"])]),
        probe_set(Level.L2, [probe(modality, "t", sentences("chest", "thorax"), ["chest tomogram", "chest sonogram"])]),
        probe_set(
            Level.L3, [probe(modality, "t", sentences("chest", "thorax"), ["knee radiograph", "hand radiograph"])]
        ),
    ]
    findings, negations = [], []
    for label in LABELS:
        positives = [f"{label} chest", f"{label} thorax", f"{label} present chest", f"{label} present thorax"]
        others = [f"{other} {place}" for other in LABELS if other != label for place in ("chest", "thorax")]
        findings.append(probe(label, "t", positives, others))
        negated = [f"{word} {label} {place}" for word in NEGATIONS for place in ("chest", "thorax")]
        negations.append(probe(label, "t", positives[:2], negated))
    levels.append(probe_set(Level.L4, findings))
    mixed = NegationSubtype.MIXED
    levels.append(probe_set(Level.L5, negations, subtype=mixed, selection=AnchorSelection.FINDING))
    return levels


def classes_of(folder, embedder):
    labels = [*LABELS * 5, "no_finding"]
    anchors = anchor_set(folder, labels)
    sets = five_levels()
    sets[3] = replace(sets[3], probes=(*sets[3].probes, probe("no_finding", "t", ["clear chest"], ["edema chest"])))
    found = {}
    for probes in sets:
        ds = full_metric(score(folder, probes, anchors, embedder, modality_sets=sets), "ds")
        found[probes.level] = cell_class(ds.value, ds.lower, ds.upper)
    return found


def image_words():
    shown = [*LABELS * 5, "clear"]
    return {str(number): f"{word} chest radiograph" for number, word in enumerate(shown)}


def test_a_model_that_ignores_negation_collapses_at_the_last_level_and_nowhere_else(tmp_path):
    classes = classes_of(tmp_path, bag_of_words(WORDS, NEGATIONS, image_words()))
    assert classes == {
        Level.L1: CellClass.DISCRIMINATES,
        Level.L2: CellClass.DISCRIMINATES,
        Level.L3: CellClass.DISCRIMINATES,
        Level.L4: CellClass.DISCRIMINATES,
        Level.L5: CellClass.COLLAPSE,
    }
    assert ceiling(classes) is Level.L5


def test_a_model_that_reads_negation_collapses_nowhere(tmp_path):
    classes = classes_of(tmp_path, bag_of_words(WORDS, (), image_words()))
    assert set(classes.values()) == {CellClass.DISCRIMINATES}
    assert ceiling(classes) is None


def test_a_model_that_prefers_negations_collapses_with_certainty(tmp_path):
    """Negating words point to what every image shows, so that a negation is closer than the finding."""
    words = WORDS | dict.fromkeys(NEGATIONS, "radiograph")
    classes = classes_of(tmp_path, bag_of_words(words, (), image_words()))
    assert classes[Level.L5] is CellClass.COLLAPSE_CERTAIN


def test_equal_texts_tie_exactly_wherever_they_stand():
    generator = np.random.default_rng(0)
    texts = generator.standard_normal((37, 300)).astype(np.float32)
    images = generator.standard_normal((5, 300)).astype(np.float32)
    doubled = cosines(images, np.concatenate([texts, texts[::-1]]))
    assert (doubled[:, :37] == doubled[:, 37:][:, ::-1]).all()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_permuted_labels_sit_at_the_null(tmp_path, seed):
    """Random directions know nothing of labels: the pass rate is p / (p + n) and its interval holds that."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(["edema", "pneumonia"] * 150).tolist()
    probes = probe_set(
        Level.L4,
        [
            probe(
                label,
                str(template),
                [f"{label} {template} {n}" for n in range(4)],
                [f"not {label} {template} {n}" for n in range(8)],
            )
            for label in ("edema", "pneumonia")
            for template in range(10)
        ],
    )
    result = score(tmp_path, probes, anchor_set(tmp_path, labels), ChanceEmbedder(dimension=512, seed=seed))
    assert metric(result, "pass_rate_chance") == pytest.approx(1 / 3)
    rate, adjusted = full_metric(result, "pass_rate"), full_metric(result, "pass_rate_adjusted")
    assert rate.lower <= 1 / 3 <= rate.upper
    assert adjusted.lower <= 0 <= adjusted.upper
    assert metric(result, "ds") < 0


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1000))
def test_rotation_scale_and_the_order_of_negatives_change_nothing(tmp_path, seed):
    anchors = anchor_set(tmp_path, ["edema", "pneumonia", "pneumonia"])
    embedder = with_cosines(TABLE)
    generator = np.random.default_rng(seed)
    dimension = embedder.description.dimension
    rotation, _ = np.linalg.qr(generator.standard_normal((dimension, dimension)))
    scale = generator.uniform(0.1, 10)
    shuffled = replace(
        FINDINGS,
        probes=tuple(replace(one, negatives=tuple(generator.permutation(one.negatives))) for one in FINDINGS.probes),
    )
    plain = score(tmp_path, FINDINGS, anchors, embedder)
    embedder.embed = _turned(embedder.embed, rotation * scale)
    turned = score(tmp_path, shuffled, anchors, embedder)
    assert turned.arrays["ds"] == pytest.approx(plain.arrays["ds"], abs=1e-6)
    for one, other in zip(plain.metrics, turned.metrics, strict=True):
        if one.name in ("ds", "ds_size_matched", "ds_scaled"):
            assert other.value == pytest.approx(one.value, abs=1e-5)


def _turned(embed, matrix):
    return lambda batch: embed(batch) @ matrix.astype(np.float32)


def test_a_model_that_gives_one_vector_to_everything_has_no_scale(tmp_path):
    embedder = with_cosines(TABLE)
    embedder.embed = lambda batch: np.ones((len(batch), embedder.description.dimension), dtype=np.float32)
    result = score(tmp_path, FINDINGS, anchor_set(tmp_path, ["edema", "pneumonia", "pneumonia"]), embedder)
    assert "ds_scaled" not in {value.name for value in result.metrics}
    assert result.arrays["scale"].tolist() == [0]
    assert metric(result, "ds") == 0
    assert metric(result, "failure_rate") == 1
    assert result.warnings == ("All cosines are equal, so there is no scale for ds_scaled.",)


def test_selections_keep_one_scale_and_one_resampling(tmp_path):
    """Anchors without finding are not part of the negation level, but of the images that the scale is taken over."""
    anchors = anchor_set(tmp_path, ["edema", "no_finding", "pneumonia"])
    sets = [
        replace(FINDINGS, probes=(*FINDINGS.probes, *_normal())),
        replace(FINDINGS, level=Level.L5, subtype=NegationSubtype.MIXED, selection=AnchorSelection.FINDING),
    ]
    embedder = with_cosines(TABLE)
    all_anchors, findings = (score(tmp_path, probes, anchors, embedder, modality_sets=sets) for probes in sets)
    assert findings.arrays["anchors"].tolist() == [0, 2]
    assert findings.arrays["scale"] == all_anchors.arrays["scale"]
    reversed_set = replace(FINDINGS, level=Level.L5, probes=_normal(), selection=AnchorSelection.NO_FINDING)
    normal = score(tmp_path, reversed_set, anchors, embedder, modality_sets=sets)
    assert normal.arrays["anchors"].tolist() == [1]
    assert full_metric(normal, "ds").lower is None


def _normal():
    return (
        probe("no_finding", "first", ["fracture"], ["edema a", "edema b"]),
        probe("no_finding", "second", ["fracture"], ["pneumonia a", "pneumonia b"]),
    )


def test_the_scale_is_taken_over_main_probes_of_concepts_that_occur(tmp_path):
    anchors = anchor_set(tmp_path, ["edema"])
    report = replace(FINDINGS, style=PhrasingStyle.REPORT, probes=(probe("edema", "t", ["reported"], ["denied"]),))
    hedged = replace(report, style=PhrasingStyle.TEMPLATE, level=Level.L5, subtype=NegationSubtype.HEDGED)
    reversed_set = replace(FINDINGS, level=Level.L5, selection=AnchorSelection.NO_FINDING, probes=_normal())
    texts = main_texts([FINDINGS, report, hedged, reversed_set], anchors)
    assert texts == tuple(sorted(TABLE))
    only = main_texts([replace(FINDINGS, probes=FINDINGS.probes[2:])], anchors)
    assert only == ()


def task_of(folder, probes, anchors):
    return cell_task(
        folder,
        cell_spec(probes),
        anchor_set=anchors,
        probe_set=probes,
        modality_sets=[probes],
        takes_volumes=False,
        numbers=InputNumbers(FileHashes()),
    )


def test_a_label_without_probe_is_an_error(tmp_path):
    with pytest.raises(SuiteInvalid, match=r"hand/1 has the concept 'hernia'.*edema, pneumonia"):
        task_of(tmp_path, FINDINGS, anchor_set(tmp_path, ["edema", "hernia"]))


def test_anchors_without_region_are_left_out_and_counted(tmp_path):
    anchors = anchor_set(tmp_path, ["edema"] * 4)
    regions = ("apex", "", "nose", "")
    anchors = replace(
        anchors, anchors=tuple(replace(one, region=name) for one, name in zip(anchors.anchors, regions, strict=True))
    )
    probes = probe_set(Level.L3, [probe("apex", "t", ["edema a"], ["fracture"])])
    task = task_of(tmp_path, probes, anchors)
    assert task.anchors == (0,)
    assert task.left_out == {"": 2, "nose": 1}
    vectors = embed_inputs(with_cosines({text: [*row, 0.0] for text, row in TABLE.items()}), task.inputs, batch_size=9)
    result = evaluate_probe_task(task, vectors, cost=EmbeddingCost())
    assert result.counts["left_out"] == 3
    assert result.warnings[0] == "Anchors whose concept has no probe are left out: none given (2), nose (1)."
    with pytest.raises(SuiteInvalid, match="none of the 4 anchors"):
        task_of(tmp_path, probe_set(Level.L3, [probe("base", "t", ["a"], ["b"])]), anchors)


def test_unequal_numbers_of_templates_are_an_error(tmp_path):
    probes = replace(FINDINGS, probes=FINDINGS.probes[:3])
    with pytest.raises(SuiteInvalid, match="edema 2, pneumonia 1"):
        task_of(tmp_path, probes, anchor_set(tmp_path, ["edema"]))


def test_the_data_hash_changes_with_texts_patients_and_anchors(tmp_path):
    anchors = anchor_set(tmp_path, ["edema", "pneumonia"])
    plain = task_of(tmp_path, FINDINGS, anchors).data_sha256
    assert task_of(tmp_path, FINDINGS, anchors).data_sha256 == plain
    moved = replace(anchors, anchors=(replace(anchors.anchors[0], cluster="other"), anchors.anchors[1]))
    fewer = replace(anchors, anchors=anchors.anchors[:1])
    reworded = replace(FINDINGS, probes=(replace(FINDINGS.probes[0], positives=("edema!", "b")), *FINDINGS.probes[1:]))
    hashes = {
        task_of(tmp_path, FINDINGS, moved).data_sha256,
        task_of(tmp_path, FINDINGS, fewer).data_sha256,
        task_of(tmp_path, reworded, anchors).data_sha256,
        plain,
    }
    assert len(hashes) == 4
