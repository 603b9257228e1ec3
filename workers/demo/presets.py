"""Instructions to choose from, one or more a family of tasks, and examples that work with one click."""

from dataclasses import dataclass

from evaluation.vocabulary import FAMILY_TITLES, Family

NO_INSTRUCTION = "No instruction"
OWN_INSTRUCTION = "My own, below"

_INSTRUCTIONS = {
    Family.IMAGE_TO_LABEL: "Name the finding in this image.",
    Family.IMAGE_TO_IMAGE: "Find another image with the same finding.",
    Family.TEXT_TO_IMAGE: "Find the image that fits this description.",
    Family.QUESTION_ANSWERING: "Answer this question about the image.",
    Family.IMAGE_TO_REPORT: "Find the report of this image.",
    Family.TEXT_TO_TEXT: "Find the text that answers this one.",
    Family.REGION_GROUNDING: "Find the part of this image that shows the named finding.",
    Family.MODALITY_BRIDGING: "Find the other examination of the same patient.",
}


def instruction_choices() -> list[tuple[str, str]]:
    """Words for people, and the instruction itself."""
    presets = [(f"{FAMILY_TITLES[family]}: {text}", text) for family, text in _INSTRUCTIONS.items()]
    return [(NO_INSTRUCTION, ""), *presets, (OWN_INSTRUCTION, OWN_INSTRUCTION)]


@dataclass(frozen=True, slots=True)
class Example:
    """A query that can be asked with one click: a text and what is searched for it (kinds of items)."""

    title: str
    text: str
    kind: str
    instruction: str = ""


EXAMPLES = (
    Example("An effusion on a chest radiograph", "chest radiograph with pleural effusion", "image"),
    Example("A melanoma", "dermoscopy image with melanoma", "image"),
    Example("The part of an image with a cyst", "liver cyst", "image", _INSTRUCTIONS[Family.REGION_GROUNDING]),
    Example("A chest CT with a nodule", "chest CT volume with lung nodule", "volume"),
    Example("What a term means", "What is a pleural effusion?", "text", _INSTRUCTIONS[Family.TEXT_TO_TEXT]),
)
