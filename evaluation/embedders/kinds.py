"""Whether an embedder can embed what it is given."""

from collections.abc import Iterable

from evaluation.errors import InputUnsupported
from evaluation.inputs import EmbeddingInput
from evaluation.types import ModelDescription
from evaluation.vocabulary import InputKind


def require_kinds(inputs: Iterable[EmbeddingInput], description: ModelDescription) -> None:
    """Refuse inputs of a kind that the model does not declare.

    Raises:
        InputUnsupported: naming the first such input and the kinds that are possible.
    """
    possible = set(description.kinds)
    for source in inputs:
        missing = sorted(source.kinds - possible)
        if missing:
            known = ", ".join(description.kinds)
            raise InputUnsupported(
                f"{source.label}: {description.architecture} cannot embed {', '.join(missing)}; it can embed {known}."
            )


def sees_volumes(description: ModelDescription) -> bool:
    """Whether a model sees a volume as one, not slice by slice.

    A model that embeds an input as the mean of its parts and takes plane images declares volumes too, but averages their
    slices; one that takes no plane image has a tower for volumes.
    """
    kinds = description.kinds
    has_plane_tower = "parts" in description.encode_config and InputKind.IMAGE in kinds
    return InputKind.VOLUME in kinds and not has_plane_tower
