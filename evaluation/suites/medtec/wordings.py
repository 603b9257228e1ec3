"""Noun phrases, and sentence frames that they are put into."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ARTICLE = re.compile(r"(?:a|an) ")
_VERBS = {False: {"is": "is", "has": "has", "was": "was"}, True: {"is": "are", "has": "have", "was": "were"}}
_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to name something: a noun phrase with its indefinite article, if it takes one."""

    text: str
    is_plural: bool = False

    @property
    def bare(self) -> str:
        """The phrase without its indefinite article, as in a caption or after "no"."""
        return _ARTICLE.sub("", self.text, count=1) if _ARTICLE.match(self.text) else self.text

    def slots(self) -> dict[str, str]:
        """What the phrase puts into a frame: itself as `concept` and `bare`, and verbs that agree with it."""
        return {"concept": self.text, "bare": self.bare, **_VERBS[self.is_plural]}


def image_slots(image: Wording) -> dict[str, str]:
    """What the name of a kind of image puts into a frame."""
    return {"image": image.text, "bare_image": image.bare}


def fill(frame: str, slots: Mapping[str, str]) -> str:
    """Fill the slots of a frame that are given, and leave the others as they stand."""
    return _SLOT.sub(lambda match: slots.get(match[1], match[0]), frame)


def slot_names(frame: str) -> frozenset[str]:
    """The slots that a frame still has."""
    return frozenset(_SLOT.findall(frame))


def normalised(text: str) -> str:
    """A text without case, punctuation and extra spaces: texts that agree in this are one text to a model."""
    return " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())
