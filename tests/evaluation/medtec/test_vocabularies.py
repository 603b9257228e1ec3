"""What the hand-written vocabularies hold, against the publishers' label lists, and what a spoilt file is refused for."""

import pytest
import yaml

from evaluation.errors import SuiteInvalid
from evaluation.suites.medtec.vocabulary_reading import read_vocabulary
from evaluation.vocabulary import Level, Modality
from tests.evaluation.medtec.probe_changes import copied_vocabularies

CHEXPERT = {
    "no_finding", "enlarged_cardiomediastinum", "cardiomegaly", "lung_lesion", "lung_opacity", "edema", "consolidation",
    "pneumonia", "atelectasis", "pneumothorax", "pleural_effusion", "pleural_other", "fracture", "support_devices",
}  # fmt: skip
NIH = {
    "no_finding", "atelectasis", "cardiomegaly", "pleural_effusion", "infiltration", "mass", "nodule", "pneumonia",
    "pneumothorax", "consolidation", "edema", "emphysema", "fibrosis", "pleural_thickening", "hernia",
}  # fmt: skip
ANCHOR_LABELS = {
    Modality.CHEST_RADIOGRAPH: CHEXPERT | NIH,
    Modality.ABDOMINAL_CT: {
        "hepatic_steatosis", "renal_cyst", "gallstones", "ascites", "pleural_effusion", "no_finding",
    },
    Modality.DERMOSCOPY: {
        "melanoma", "melanocytic_nevus", "basal_cell_carcinoma", "actinic_keratosis", "benign_keratosis",
        "dermatofibroma", "vascular_lesion", "squamous_cell_carcinoma", "seborrheic_keratosis",
    },
    Modality.FUNDUS: {
        "no_finding", "diabetic_retinopathy", "diabetic_macular_edema", "glaucoma", "cataract",
        "age_related_macular_degeneration", "hypertensive_retinopathy", "pathologic_myopia",
    },
    Modality.HISTOPATHOLOGY: {
        "adipose", "background", "debris", "lymphocytes", "mucus", "smooth_muscle", "normal_colon_mucosa",
        "cancer_associated_stroma", "colorectal_adenocarcinoma",
    },
    Modality.BRAIN_MRI: {"no_finding", "glioma", "meningioma", "pituitary_tumor"},
    Modality.BREAST_ULTRASOUND: {"no_finding", "benign_mass", "malignant_mass"},
    Modality.SKIN_PHOTOGRAPH: {
        "basal_cell_carcinoma", "squamous_cell_carcinoma", "actinic_keratosis", "seborrheic_keratosis", "melanoma",
        "melanocytic_nevus",
    },
}  # fmt: skip
SITES = {
    "abdomen", "acral", "back", "chest", "ear", "face", "foot", "genital", "hand", "lower_extremity", "neck", "scalp",
    "trunk", "upper_extremity", "anterior_torso", "posterior_torso", "lateral_torso", "head_neck", "palms_soles",
    "oral_genital", "arm", "forearm", "thigh", "nose", "lip",
}  # fmt: skip
EXCLUDED = [
    (Modality.CHEST_RADIOGRAPH, Level.L4, "pneumonia", {"consolidation", "lung_opacity", "infiltration"}),
    (Modality.CHEST_RADIOGRAPH, Level.L4, "nodule", {"lung_lesion", "lung_opacity"}),
    (Modality.CHEST_RADIOGRAPH, Level.L4, "cardiomegaly", {"enlarged_cardiomediastinum"}),
    (Modality.CHEST_RADIOGRAPH, Level.L4, "enlarged_cardiomediastinum", {"cardiomegaly"}),
    (Modality.CHEST_RADIOGRAPH, Level.L4, "pleural_other", {"pleural_thickening"}),
    (Modality.CHEST_RADIOGRAPH, Level.L4, "no_finding", {"support_devices"}),
    (
        Modality.CHEST_RADIOGRAPH,
        Level.L4,
        "lung_opacity",
        {"edema", "consolidation", "pneumonia", "atelectasis", "lung_lesion", "mass", "nodule", "infiltration"},
    ),
    (Modality.ABDOMINAL_CT, Level.L4, "renal_cyst", {"renal_hypodensities"}),
    (Modality.ABDOMINAL_CT, Level.L4, "ascites", {"anasarca"}),
    (Modality.DERMOSCOPY, Level.L4, "actinic_keratosis", {"squamous_cell_carcinoma"}),
    (Modality.DERMOSCOPY, Level.L4, "benign_keratosis", {"seborrheic_keratosis"}),
    (Modality.DERMOSCOPY, Level.L4, "seborrheic_keratosis", {"benign_keratosis"}),
    (Modality.DERMOSCOPY, Level.L3, "hand", {"upper_extremity", "palms_soles", "acral"}),
    (Modality.DERMOSCOPY, Level.L3, "trunk", {"abdomen", "back", "chest", "anterior_torso"}),
    (Modality.SKIN_PHOTOGRAPH, Level.L3, "face", {"nose", "lip", "head_neck", "eyelid"}),
    (Modality.FUNDUS, Level.L4, "diabetic_retinopathy", {"diabetic_macular_edema"}),
    (Modality.FUNDUS, Level.L4, "cataract", {"no_finding"}),
    (Modality.BREAST_ULTRASOUND, Level.L4, "benign_mass", {"breast_abscess", "seroma", "fat_necrosis"}),
]


def concept_of(modality, level, key):
    return next(term for term in read_vocabulary(modality).concepts(level) if term.key == key)


@pytest.mark.parametrize("modality", list(Modality))
def test_anchors_may_have_exactly_the_publishers_labels(modality):
    assert {term.key for term in read_vocabulary(modality).concepts(Level.L4)} == ANCHOR_LABELS[modality]


@pytest.mark.parametrize(("name", "labels"), [("chexpert", CHEXPERT), ("nih", NIH)])
def test_each_chest_label_says_who_judges_it(name, labels):
    findings = read_vocabulary(Modality.CHEST_RADIOGRAPH).findings
    assert {term.key for term in findings if name in term.lists} == labels


def test_merlin_has_thirty_labels_besides_no_finding():
    assert len([term for term in read_vocabulary(Modality.ABDOMINAL_CT).findings if term.key != "no_finding"]) == 30


@pytest.mark.parametrize("modality", [Modality.DERMOSCOPY, Modality.SKIN_PHOTOGRAPH])
def test_skin_has_the_sites_of_its_data_sets(modality):
    assert {term.key for term in read_vocabulary(modality).concepts(Level.L3)} == SITES


@pytest.mark.parametrize(("modality", "level", "key", "others"), EXCLUDED)
def test_what_may_be_true_is_never_offered_as_false(modality, level, key, others):
    offered = {term.key for term in read_vocabulary(modality).alternatives(level, concept_of(modality, level, key))}
    assert not offered & (others | {key})
    assert offered


def test_relations_hold_both_ways_and_reach_over_generations():
    vocabulary = read_vocabulary(Modality.CHEST_RADIOGRAPH)
    offered = {
        concept.key: {term.key for term in vocabulary.alternatives(Level.L4, concept)}
        for concept in vocabulary.concepts(Level.L4)
    }
    assert "lung_opacity" not in offered["nodule"]
    assert "nodule" not in offered["lung_opacity"]


def test_support_devices_are_false_only_where_every_list_judges_them():
    vocabulary = read_vocabulary(Modality.CHEST_RADIOGRAPH)
    with_devices = {
        concept.key
        for concept in vocabulary.concepts(Level.L4)
        if "support_devices" in {term.key for term in vocabulary.alternatives(Level.L4, concept)}
    }
    assert with_devices == CHEXPERT - NIH - {"support_devices"}


def test_labels_that_no_list_of_the_concept_judges_are_not_offered():
    vocabulary = read_vocabulary(Modality.CHEST_RADIOGRAPH)
    hernia = concept_of(Modality.CHEST_RADIOGRAPH, Level.L4, "hernia")
    assert {term.key for term in vocabulary.alternatives(Level.L4, hernia)} == NIH - {"hernia"}


def test_labels_that_all_lists_judge_come_first():
    pneumothorax = concept_of(Modality.CHEST_RADIOGRAPH, Level.L4, "pneumothorax")
    offered = [term.key for term in read_vocabulary(Modality.CHEST_RADIOGRAPH).alternatives(Level.L4, pneumothorax)]
    both = (CHEXPERT & NIH) - {"pneumothorax"}
    assert set(offered[: len(both)]) == both


def spoil(folder, modality, change):
    path = copied_vocabularies(folder) / f"{modality}.yaml"
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda value: value.pop("evidence"), "missing key 'evidence'"),
        (lambda value: value.update(extra=1), "unknown key 'extra'"),
        (lambda value: value.update(modality="fundus"), "the file's name says 'brain_mri'"),
        (lambda value: value["findings"][1].pop("lay"), "findings: item 1: missing key 'lay'"),
        (lambda value: value["findings"][1].update(lay=[]), "item 1: lay: at least one wording"),
        (lambda value: value["findings"][1].update(names="glioma"), "names: a list is expected, not str"),
        (lambda value: value["findings"][1].update(incidental="no"), "incidental: true or false"),
        (lambda value: value["findings"][1].update(parents=["tumour"]), "'glioma' names 'tumour'"),
        (lambda value: value["findings"][1].update(parents=["glioma"]), "'glioma' is its own ancestor"),
        (lambda value: value["findings"][1].update(key="meningioma"), "the key 'meningioma' stands twice"),
        (lambda value: value["findings"][1]["names"].append(" "), "names: item 4: the text is empty"),
        (lambda value: value["findings"][1]["names"].append({"text": "x"}), "missing key 'plural'"),
        (lambda value: value["other_images"][0].update(source=""), "other_images: item 0: source: the text is empty"),
        (lambda value: value["regions"][0].update(related=["toe"]), "'brain_mri' names 'toe'"),
        (lambda value: value["images"].pop("report"), "images: missing key 'report'"),
    ],
)
def test_a_spoilt_vocabulary_is_refused_with_file_and_place(tmp_path, change, said):
    path = spoil(tmp_path, Modality.BRAIN_MRI, change)
    with pytest.raises(SuiteInvalid) as caught:
        read_vocabulary(Modality.BRAIN_MRI, tmp_path)
    assert said in caught.value.message
    assert str(path) in caught.value.message


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("negation", "subtype: hedged", "subtype: vague", "'vague' is none of mixed, definite"),
        ("negation", '"no {bare}"', '"no {finding}"', "has the slot 'finding', which nothing fills"),
        ("negation", '"no {bare}"', '"none of that"', "has none of the slots bare, concept"),
        ("negation", "no abnormality is present", "no {bare} is present", "has the slot 'bare', which nothing fills"),
        ("templates", "this is {concept}", "this is {Concept}", "has the slot 'Concept', which nothing fills"),
        ("templates", "this is {concept}", "this is it", "has none of the slots bare, concept"),
        ("templates", "finding on {image}: {clause}", "finding on {image}: {bare}", "has the slot 'bare'"),
        ("templates", "level: L4", "level: L6", "'L6' is none of"),
        ("objects", "names: [a ripe banana", "name: [a ripe banana", "unknown key 'name'"),
        ("objects", "key: teapot", "key: banana", "the key 'banana' stands twice"),
    ],
)
def test_a_spoilt_shared_file_is_refused_with_file_and_place(tmp_path, name, old, new, said):
    path = copied_vocabularies(tmp_path) / f"{name}.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SuiteInvalid) as caught:
        read_vocabulary(Modality.BRAIN_MRI, tmp_path)
    assert said in caught.value.message
    assert str(path) in caught.value.message
