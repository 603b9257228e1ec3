"""What the parts of a probing suite are called and mean, for people."""

from leaderboard.models.vocabulary import CellClass, Level, NegationSubtype, PhrasingStyle

BOUNDARY = 0.05
"""From this mean DS on, with an interval above zero, a model tells descriptions apart. A test holds it to the library."""

LEVEL_QUESTIONS = {
    Level.L1: "Is it a medical image at all, or an everyday object?",
    Level.L2: "Which imaging modality is it?",
    Level.L3: "Which part of the body does it show?",
    Level.L4: "Which finding does it show, among those of its field?",
    Level.L5: "Is the finding there, or does the text deny it?",
}

CLASS_EXPLANATIONS = {
    CellClass.DISCRIMINATES: f"mean DS of at least {BOUNDARY} and an interval above zero",
    CellClass.NEAR_CHANCE: f"mean DS above zero, but under {BOUNDARY} or with an interval that reaches zero",
    CellClass.COLLAPSE: "mean DS of zero or less: a wrong description is nearer than every right one",
    CellClass.COLLAPSE_CERTAIN: "the whole interval lies below zero",
}

STYLE_EXPLANATIONS = {
    PhrasingStyle.TEMPLATE: "the sentences of image captions",
    PhrasingStyle.REPORT: "findings and impression, as in a report",
    PhrasingStyle.ONTOLOGY: "preferred terms of RadLex and UMLS",
    PhrasingStyle.PARAPHRASE: "other clinical or everyday words",
}

SUBTYPE_EXPLANATIONS = {
    NegationSubtype.MIXED: "the ten constructions of the main cell",
    NegationSubtype.DEFINITE: "“no pneumonia”",
    NegationSubtype.HEDGED: "“possible pneumonia”: weaker than the finding, not its contrary",
    NegationSubtype.RULED_OUT: "“no radiographic evidence of pneumonia”",
    NegationSubtype.HISTORICAL: "“prior pneumonia, now resolved”",
}

ATTRIBUTES = {"sex": "Sex", "age": "Age", "skin_tone": "Skin tone (Fitzpatrick)"}
PROTOCOLS = {"retrieval": "Retrieval", "zero_shot": "Zero-shot classification", "probing": "MedTEC finding level"}
IMAGES = {"blank": "blank image", "noise": "noise image"}


def level_title(level: str) -> str:
    """A level by number and name: L4 Finding."""
    return f"{level} {Level(level).label}"
