"""Reading a checked model folder with transformers, without network and without silent gaps.

transformers fills weights that a file lacks with random numbers and only warns; here that is an error.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import AutoImageProcessor, AutoTokenizer

from evaluation.embedders.encode_config import EncodeConfig
from evaluation.errors import EvaluationError, ModelInvalid

_MAX_NAMED_KEYS = 3
_VOCABULARIES = (
    {"tokenizer.json"},
    {"vocab.json", "merges.txt"},
    {"vocab.txt"},
    {"spiece.model"},
    {"tokenizer.model"},
)


def compute_dtype(device: str, config: EncodeConfig) -> torch.dtype:
    """The number type to compute in: float32 on a CPU, and on a GPU what the config says under `gpu_dtype`.

    Vectors leave a model as float32 and are scaled to unit length as such, whatever this is.
    """
    if torch.device(device).type == "cpu":
        return torch.float32
    return {"bfloat16": torch.bfloat16, "float32": torch.float32}[config.text("gpu_dtype")]


def dtype_name(dtype: torch.dtype) -> str:
    """A number type's name as descriptions give it, e.g. `bfloat16`."""
    return str(dtype).removeprefix("torch.")


def load_weights(model_class: Any, folder: Path, *, dtype: torch.dtype, device: str) -> Any:
    """The model in `folder`, in evaluation mode, in the given dtype whatever the checkpoint's.

    Raises:
        ModelInvalid: files are damaged, or weights are missing or of another shape.
    """
    with loading_faults(folder):
        model, info = model_class.from_pretrained(
            folder,
            dtype=dtype,
            attn_implementation="sdpa",
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    require_complete(folder, info)
    return model.eval().to(device)


def require_complete(folder: Path, info: Mapping[str, Any], *, unused: tuple[str, ...] = ()) -> None:
    """Refuse a model for which transformers had to make up weights.

    Args:
        folder: named in the error.
        info: the loading info of transformers.
        unused: starts of names whose weights have no part in an embedding and may be missing.

    Raises:
        ModelInvalid: naming the first few weights.
    """
    names = sorted(str(key) for key in (*info["missing_keys"], *info["mismatched_keys"]))
    absent = [name for name in names if not name.startswith(unused)]
    if absent:
        more = f" and {len(absent) - _MAX_NAMED_KEYS} more" if len(absent) > _MAX_NAMED_KEYS else ""
        shown = ", ".join(absent[:_MAX_NAMED_KEYS])
        raise ModelInvalid(f"{folder.name}: weights are missing or of another shape: {shown}{more}.")


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer in `folder`.

    Without vocabulary files transformers makes an empty tokenizer for some models; here that is an error.

    Raises:
        ModelInvalid: its files are missing or damaged.
    """
    names = {path.name for path in folder.iterdir()}
    if not any(needed <= names for needed in _VOCABULARIES):
        raise ModelInvalid(f"{folder.name} has no tokenizer files; add tokenizer.json to the repository.")
    with loading_faults(folder):
        return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def load_image_processor(folder: Path) -> Any:
    """The image processor in `folder`, always resizing with Pillow so that a rerun ranks identically.

    Raises:
        ModelInvalid: its files are missing or damaged.
    """
    with loading_faults(folder):
        return AutoImageProcessor.from_pretrained(folder, backend="pil", local_files_only=True, trust_remote_code=False)


@contextmanager
def loading_faults(folder: Path) -> Iterator[None]:
    """Translate whatever a damaged repository makes a framework raise into `ModelInvalid`."""
    try:
        yield
    except EvaluationError:
        raise
    except Exception as error:  # frameworks raise anything at all on damaged files
        raise ModelInvalid(f"{folder.name} cannot be loaded ({type(error).__name__}: {error}).") from error


def count_parameters(model: Any) -> int:
    """How many numbers the model's weights hold, shared ones once."""
    return sum(parameter.numel() for parameter in model.parameters())
