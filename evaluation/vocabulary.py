"""The closed lists of words that classify tasks, models and inputs.

Every enum is a `StrEnum`, so its value is what is stored, serialised and shown in addresses. `FAMILY_TITLES` and
its neighbours give the words for people.
"""

from enum import StrEnum


class Family(StrEnum):
    """What is asked and what is searched: the eight retrieval families of MedHEB."""

    IMAGE_TO_LABEL = "image_to_label"
    IMAGE_TO_IMAGE = "image_to_image"
    TEXT_TO_IMAGE = "text_to_image"
    QUESTION_ANSWERING = "question_answering"
    IMAGE_TO_REPORT = "image_to_report"
    TEXT_TO_TEXT = "text_to_text"
    REGION_GROUNDING = "region_grounding"
    MODALITY_BRIDGING = "modality_bridging"


class Domain(StrEnum):
    """Anatomical domain: the eight of MedHEB."""

    ABDOMINAL = "abdominal"
    DERMATOLOGY = "dermatology"
    MICROSCOPY = "microscopy"
    MULTI_ORGAN = "multi_organ"
    MUSCULOSKELETAL = "musculoskeletal"
    NEURO = "neuro"
    OPHTHALMOLOGY = "ophthalmology"
    THORACIC = "thoracic"


class EvidenceForm(StrEnum):
    """The richest evidence that a task contains."""

    IMAGE_2D = "image_2d"
    VOLUME_3D = "volume_3d"
    TEXT = "text"


class PairingType(StrEnum):
    """Which kinds of evidence are paired."""

    IMAGE_IMAGE = "image_image"
    IMAGE_TEXT = "image_text"
    TEXT_TEXT = "text_text"
    MODALITY_BRIDGING = "modality_bridging"


class Granularity(StrEnum):
    """What relevance is judged on."""

    GLOBAL_LABEL = "global_label"
    QUESTION_CONDITIONED = "question_conditioned"
    REGION_LEVEL = "region_level"


class Split(StrEnum):
    """Whether the source of a task also gave training data to the reference model."""

    IN_DISTRIBUTION = "in_distribution"
    HELD_OUT = "held_out"


class ReleaseGroup(StrEnum):
    """The groups over which the release's own report takes its means; `ALL` is without the held-out tasks."""

    IMAGE_2D = "2d"
    VOLUME_3D = "3d"
    TEXT = "txt"
    HELD_OUT = "ood"
    ALL = "all"
    ALL_WITH_HELD_OUT = "all_ood"


class AggregateScope(StrEnum):
    """What a mean over tasks covers."""

    OVERALL = "overall"
    FAMILY = "family"
    DOMAIN = "domain"
    EVIDENCE_FORM = "evidence_form"
    PAIRING_TYPE = "pairing_type"
    GRANULARITY = "granularity"
    SPLIT = "split"
    RELEASE_GROUP = "release_group"


class PoolScope(StrEnum):
    """`local`: each query ranks its own list. `global`: every query ranks all distinct candidates of the task."""

    LOCAL = "local"
    GLOBAL = "global"


class Parser(StrEnum):
    """How a task file's records are read."""

    IMAGE_CLS = "image_cls"
    IMAGE_QA = "image_qa"
    IMAGE_I2I = "image_i2i"
    IMAGE_I2I_VG = "image_i2i_vg"
    IMAGE_T2I = "image_t2i"
    TEXT_QA = "text_qa"
    VOLUME_I2T = "volume_i2t"
    VOLUME_T2I = "volume_t2i"
    VOLUME_I2I = "volume_i2i"


class InputKind(StrEnum):
    """What an input consists of; an embedder declares which kinds it can embed."""

    TEXT = "text"
    IMAGE = "image"
    IMAGES = "images"
    VOLUME = "volume"


class EmbedderFamily(StrEnum):
    """Model families that can be loaded: systems that share an architecture, a file layout and a way to encode."""

    CLIP = "clip"
    SIGLIP = "siglip"
    BLIP2 = "blip2"
    QWEN3_VL = "qwen3_vl"
    QWEN2_VL = "qwen2_vl"
    RZEN_EMBED = "rzen_embed"
    OPEN_CLIP = "open_clip"
    MEDIMAGEINSIGHT = "medimageinsight"
    BIOVIL = "biovil"
    MEDCLIP = "medclip"
    MERLIN = "merlin"
    PMC_CLIP = "pmc_clip"
    UNIMED_CLIP = "unimed_clip"
    SENTENCE_TRANSFORMERS = "sentence_transformers"
    LITE_DUAL = "lite_dual"
    CHANCE = "chance"


class SuiteKind(StrEnum):
    """What the tasks of a suite ask of a model: to rank candidates, or to tell true texts of an image from false ones."""

    RETRIEVAL = "retrieval"
    PROBING = "probing"


class Modality(StrEnum):
    """What kind of image a probe speaks of: the six of MedTEC, then ours, which no overall figure includes."""

    CHEST_RADIOGRAPH = "chest_radiograph"
    ABDOMINAL_CT = "abdominal_ct"
    DERMOSCOPY = "dermoscopy"
    FUNDUS = "fundus"
    HISTOPATHOLOGY = "histopathology"
    BRAIN_MRI = "brain_mri"
    BREAST_ULTRASOUND = "breast_ultrasound"
    SKIN_PHOTOGRAPH = "skin_photograph"


class Level(StrEnum):
    """How specific the distinction is that a probe asks for, the coarsest first."""

    L1 = "L1"
    L2 = "L2"
    L3 = "L3"
    L4 = "L4"
    L5 = "L5"


class PhrasingStyle(StrEnum):
    """How a probe's sentences are worded. `TEMPLATE` is the main one; the others exist at L4 and L5."""

    TEMPLATE = "template"
    REPORT = "report"
    ONTOLOGY = "ontology"
    PARAPHRASE = "paraphrase"


class NegationSubtype(StrEnum):
    """Which kind of negation the negatives of an L5 probe are. `MIXED` is the main one: ten constructions."""

    MIXED = "mixed"
    DEFINITE = "definite"
    HEDGED = "hedged"
    RULED_OUT = "ruled_out"
    HISTORICAL = "historical"


class AnchorSelection(StrEnum):
    """Which anchors of a set a task takes; `NO_FINDING` ones have the polarity of L5 reversed and are never pooled."""

    ALL = "all"
    FINDING = "finding"
    NO_FINDING = "no_finding"


class ProbeTaskKind(StrEnum):
    """What a task of MedTEC measures: Discrimination Scores, or one of the protocols that they are compared with."""

    CELL = "cell"
    CLOSED_QUESTIONS = "closed_questions"
    RETRIEVAL = "retrieval"
    ZERO_SHOT = "zero_shot"


class CellClass(StrEnum):
    """What a Discrimination Score with its interval says of a model."""

    COLLAPSE_CERTAIN = "collapse_certain"
    COLLAPSE = "collapse"
    NEAR_CHANCE = "near_chance"
    DISCRIMINATES = "discriminates"


FAMILY_TITLES: dict[Family, str] = {
    Family.IMAGE_TO_LABEL: "Image to label",
    Family.IMAGE_TO_IMAGE: "Image to image",
    Family.TEXT_TO_IMAGE: "Text to image",
    Family.QUESTION_ANSWERING: "Question",
    Family.IMAGE_TO_REPORT: "Report",
    Family.TEXT_TO_TEXT: "Text to text",
    Family.REGION_GROUNDING: "Region",
    Family.MODALITY_BRIDGING: "Bridging",
}

DOMAIN_TITLES: dict[Domain, str] = {
    Domain.ABDOMINAL: "Abdominal",
    Domain.DERMATOLOGY: "Dermatology",
    Domain.MICROSCOPY: "Microscopy",
    Domain.MULTI_ORGAN: "Multi-organ",
    Domain.MUSCULOSKELETAL: "Musculoskeletal",
    Domain.NEURO: "Neuro",
    Domain.OPHTHALMOLOGY: "Ophthalmology",
    Domain.THORACIC: "Thoracic",
}

MODALITY_TITLES: dict[Modality, str] = {
    Modality.CHEST_RADIOGRAPH: "Chest radiograph",
    Modality.ABDOMINAL_CT: "Abdominal CT",
    Modality.DERMOSCOPY: "Dermoscopy",
    Modality.FUNDUS: "Fundus",
    Modality.HISTOPATHOLOGY: "Histopathology",
    Modality.BRAIN_MRI: "Brain MRI",
    Modality.BREAST_ULTRASOUND: "Breast ultrasound",
    Modality.SKIN_PHOTOGRAPH: "Skin photograph",
}

LEVEL_TITLES: dict[Level, str] = {
    Level.L1: "Domain",
    Level.L2: "Modality",
    Level.L3: "Anatomy",
    Level.L4: "Finding",
    Level.L5: "Negation",
}
