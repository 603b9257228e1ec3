"""What the builder writes, against texts written by hand, and what no committed probe may say."""

import re
from dataclasses import replace

import pytest

from evaluation.suites.medtec.probe_building import build_probe_sets, probes_sha256
from evaluation.suites.medtec.probe_reading import PROBES, read_probe_sets
from evaluation.suites.medtec.probe_writing import probe_file_text
from evaluation.suites.medtec.vocabulary_reading import read_vocabulary
from evaluation.vocabulary import Level, Modality, NegationSubtype, PhrasingStyle
from tests.evaluation.medtec.probe_changes import pick, probe_of

# What a negative of a finding must not speak of, in any style: written without the vocabulary files.
NEVER_SAID = [
    (Modality.CHEST_RADIOGRAPH, "pneumonia", r"consolidat|infiltrat|opaci|airspace|solid|whit|cloudy|infect"),
    (Modality.CHEST_RADIOGRAPH, "edema", r"opaci|infiltrat|edema|white|cloudy|whitish"),
    (Modality.CHEST_RADIOGRAPH, "atelectasis", r"opaci|atelecta|collapse|white|cloudy"),
    (
        Modality.CHEST_RADIOGRAPH,
        "lung_opacity",
        r"edema|consolidat|pneumonia|atelecta|nodul|mass|lump|infect|scar tissue in the lung|collaps",
    ),
    (Modality.CHEST_RADIOGRAPH, "mass", r"lesion|opaci|spot on the lung|abnormal spot"),
    (Modality.CHEST_RADIOGRAPH, "cardiomegaly", r"mediastin|heart that|enlarged heart|cardiac"),
    (
        Modality.CHEST_RADIOGRAPH,
        "enlarged_cardiomediastinum",
        r"cardiomegaly|enlarged heart|cardiac|heart that|oversized",
    ),
    (Modality.CHEST_RADIOGRAPH, "pleural_thickening", r"pleural scar|scarred lining|thicken"),
    (Modality.CHEST_RADIOGRAPH, "pleural_effusion", r"effusion|fluid around|pleural fluid"),
    (
        Modality.CHEST_RADIOGRAPH,
        "no_finding",
        r"support|device|tube|wire|a normal|normal (chest|lung|appear|thorax|anat)|healthy",
    ),
    (Modality.CHEST_RADIOGRAPH, "fracture", r"normal lungs|normal heart|healthy lungs|broken|crack"),
    (
        Modality.ABDOMINAL_CT,
        "pleural_effusion",
        r"normal abdom|healthy abdom|healthy belly|belly that|pleura|around the lung|body swollen",
    ),
    (Modality.ABDOMINAL_CT, "renal_cyst", r"hypodens|dark spot in the kidney|cyst"),
    (Modality.BRAIN_MRI, "pituitary_tumor", r"(normal|healthy) (brain|cereb)|pituitar|hypophys|hormone"),
    (Modality.FUNDUS, "cataract", r"normal|healthy|lens|catarac"),
    (Modality.FUNDUS, "diabetic_retinopathy", r"diabet|sugar"),
    (Modality.DERMOSCOPY, "actinic_keratosis", r"squamous|flat cells|flat skin cells|outer|actinic|solar"),
    (Modality.BREAST_ULTRASOUND, "benign_mass", r"abscess|seroma|necrosis|pus|fluid|dead fat|harmless|tissue"),
]


def built(modality):
    return build_probe_sets(read_vocabulary(modality))


@pytest.mark.parametrize("modality", list(Modality))
def test_committed_files_are_what_the_builder_makes(modality):
    assert (PROBES / f"{modality}.yaml").read_bytes() == probe_file_text(built(modality)).encode("utf-8")
    assert read_probe_sets(modality) == built(modality)


def test_domain_probes_have_everyday_objects_on_the_other_side():
    probe = pick(built(Modality.CHEST_RADIOGRAPH), Level.L1).probes[0]
    assert probe.concept == "chest_radiograph"
    assert "an image of a chest x-ray" in probe.positives
    assert any("acoustic guitar" in text for text in probe.negatives)
    assert (len(probe.positives), len(probe.negatives)) == (4, 10)


def test_anatomy_probes_name_another_region_of_the_same_modality():
    probe = probe_of(pick(built(Modality.BRAIN_MRI), Level.L3), "brain_mri")
    assert probe.positives[0] == "an MRI scan of the brain"
    assert probe.negatives[0] == "an MRI scan of the knee"
    assert probe.template == "an MRI scan of {concept}"


def test_a_finding_probe_by_hand():
    probe = probe_of(pick(built(Modality.BRAIN_MRI), Level.L4), "glioma")
    assert probe.template == "a brain MRI scan showing {concept}"
    assert probe.positives == (
        "a brain MRI scan showing glioma",
        "a brain MRI scan showing a glial tumor",
        "a brain MRI scan showing brain glioma",
        "a brain MRI scan showing a glial cell tumor",
    )
    assert len(probe.negatives) == 9
    assert {text.removeprefix("a brain MRI scan showing ") for text in probe.negatives} >= {
        "a brain metastasis",
        "vestibular schwannoma",
        "a brain infarct",
    }


def test_the_ten_main_negations_by_hand():
    probe = probe_of(pick(built(Modality.CHEST_RADIOGRAPH), Level.L5), "pneumonia")
    assert probe.positives == (
        "a chest x-ray: pneumonia is present",
        "a chest x-ray: there is pneumonia",
        "a chest x-ray: positive for pneumonia",
        "a chest x-ray: pneumonia is seen",
    )
    assert probe.negatives == (
        "a chest x-ray: no pneumonia",
        "a chest x-ray: pneumonia is absent",
        "a chest x-ray: pneumonia excluded",
        "a chest x-ray: negative for pneumonia",
        "a chest x-ray: without pneumonia",
        "a chest x-ray: no radiographic evidence of pneumonia",
        "a chest x-ray: pneumonia has been ruled out",
        "a chest x-ray: no findings to suggest pneumonia",
        "a chest x-ray: no signs of pneumonia",
        "a chest x-ray: without evidence of pneumonia",
    )


@pytest.mark.parametrize(
    ("subtype", "quoted"),
    [
        (NegationSubtype.DEFINITE, ["pneumonia excluded"]),
        (NegationSubtype.HEDGED, ["possible pneumonia", "pneumonia cannot be excluded"]),
        (NegationSubtype.RULED_OUT, ["no radiographic evidence of pneumonia"]),
        (NegationSubtype.HISTORICAL, ["prior pneumonia, now resolved"]),
    ],
)
def test_each_subtype_has_the_wordings_that_the_benchmark_quotes(subtype, quoted):
    probe = probe_of(pick(built(Modality.CHEST_RADIOGRAPH), Level.L5, subtype=subtype), "pneumonia")
    for text in quoted:
        assert f"a chest x-ray: {text}" in probe.negatives
    assert len(probe.negatives) == 10


@pytest.mark.parametrize("subtype", [NegationSubtype.HEDGED, NegationSubtype.HISTORICAL])
def test_the_main_set_holds_no_hedged_and_no_historical_text(subtype):
    sets = built(Modality.CHEST_RADIOGRAPH)
    apart = {text for probe in pick(sets, Level.L5, subtype=subtype).probes for text in probe.negatives}
    assert not apart & {text for probe in pick(sets, Level.L5).probes for text in probe.negatives}


def test_plural_findings_take_plural_verbs():
    probe = probe_of(pick(built(Modality.ABDOMINAL_CT), Level.L5), "gallstones")
    assert "an abdominal CT scan: gallstones are present" in probe.positives
    assert "an abdominal CT scan: gallstones have been ruled out" in probe.negatives


def test_without_a_finding_the_polarity_is_reversed():
    probe = pick(built(Modality.BRAIN_MRI), Level.L5, reversed_set=True).probes[0]
    assert probe.positives[0] == "a brain MRI scan: no abnormality is present"
    assert probe.negatives[:3] == (
        "a brain MRI scan: glioma is present",
        "a brain MRI scan: there is meningioma",
        "a brain MRI scan: positive for pituitary tumor",
    )


@pytest.mark.parametrize("modality", [Modality.DERMOSCOPY, Modality.SKIN_PHOTOGRAPH, Modality.HISTOPATHOLOGY])
def test_no_reversed_set_where_no_label_is_normal(modality):
    assert not [each for each in built(modality) if each.selection == "no_finding"]


def test_styles_have_the_same_competitors():
    """The same concepts in the same order: one negative each, from the same alternatives."""
    vocabulary = read_vocabulary(Modality.FUNDUS)
    glaucoma = next(term for term in vocabulary.findings if term.key == "glaucoma")
    competitors = vocabulary.alternatives(Level.L4, glaucoma)[:10]
    for style in PhrasingStyle:
        probe = probe_of(pick(built(Modality.FUNDUS), Level.L4, style), "glaucoma")
        for text, competitor in zip(probe.negatives, competitors, strict=True):
            assert any(wording.bare in text for wording in competitor.wordings[style])


@pytest.mark.parametrize(("modality", "concept", "pattern"), NEVER_SAID)
def test_no_committed_negative_may_be_true_of_its_image(modality, concept, pattern):
    for style in PhrasingStyle:
        for probe in pick(read_probe_sets(modality), Level.L4, style).probes:
            if probe.concept == concept:
                start, end = probe.template.index("{"), len(probe.template) - probe.template.rindex("}") - 1
                said = [text[start : len(text) - end] for text in probe.negatives]
                assert not [text for text in said if re.search(pattern, text)], style


def test_the_hash_covers_texts_and_not_sources():
    probe_set = pick(built(Modality.BRAIN_MRI), Level.L4)
    first, *others = probe_set.probes
    other_source = replace(probe_set, probes=(replace(first, source="elsewhere"), *others))
    other_text = replace(probe_set, probes=(replace(first, negatives=(*first.negatives[:-1], "x")), *others))
    assert probes_sha256(other_source) == probe_set.sha256
    assert probes_sha256(other_text) != probe_set.sha256


def test_no_two_sets_share_a_hash():
    hashes = [each.sha256 for modality in Modality for each in read_probe_sets(modality)]
    assert len(set(hashes)) == len(hashes) == 125
