"""The systems whose official files can be converted."""

from evaluation.conversion.conversion import Conversion
from evaluation.errors import ModelUnsupported

CONVERSIONS = (
    Conversion(
        system="pubmedclip",
        file_names=("pytorch_model.bin",),
        function="evaluation.conversion.pubmedclip:convert",
        pinned={
            "text_model.embeddings.token_embedding.weight": (49_408, 512),
            "vision_model.embeddings.patch_embedding.weight": (768, 3, 32, 32),
            "text_projection.weight": (512, 512),
        },
        tokenizer_source="flaviagiammarino/pubmed-clip-vit-base-patch32",
    ),
)


def find_conversion(system: str) -> Conversion:
    """The conversion of a system.

    Raises:
        ModelUnsupported: there is none; the message names those that there are.
    """
    found = next((conversion for conversion in CONVERSIONS if conversion.system == system), None)
    if found is None:
        known = ", ".join(sorted(conversion.system for conversion in CONVERSIONS))
        raise ModelUnsupported(f"{system!r} has no conversion; choose from {known}.")
    return found
