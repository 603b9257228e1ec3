"""What a conversion is. Importing this module loads no framework."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any

from evaluation.errors import ConversionRefused, ModelInvalid

if TYPE_CHECKING:
    import torch

    State = Mapping[str, torch.Tensor]


TOKENIZER_NAMES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
)


class FileFormat(StrEnum):
    """How the official file is written, whatever its name ends in."""

    PICKLE = "pickle"
    SAFETENSORS = "safetensors"


@dataclass(frozen=True, slots=True)
class Converted:
    """What a converted folder holds.

    `tensors` go to model.safetensors. `config` goes to config.json, with its `model_type`; the name of the system and
    where it was converted from are added. Those of an adapter go to adapter_model.safetensors, and its `config` is empty,
    because adapter_config.json comes along. `documents` are further JSON files by name, e.g. preprocessor_config.json.
    """

    tensors: "State"
    config: Mapping[str, Any]
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversion:
    """How one system's official file becomes a folder that its loader reads.

    Attributes:
        system: its name in `systems.yaml`; an encode config of that name becomes the folder's default.
        file_names: what the official file is called; others are refused, so that a mix-up shows at once.
        function: `package.module:function`, which takes the state and gives `Converted`; it checks every key and shape.
        pinned: shapes of a few tensors of the state that only the official architecture has.
        state_path: the keys that lead from what the file holds to the tensors by name.
        as_trained: the file may be its trainer's own: tensors below `state_dict`, `module.` before every name.
        file_format: how the file is written.
        tokenizer_source: the public repository whose tokenizer the system uses; "" where the loader needs none.
        is_adapter: whether the file holds an adapter; the adapter_config.json beside it comes along.
        tokenizer_names: the files of it that are copied; fewer where a loader reads the vocabulary alone.
        second_file_names: where a system's towers come in two files, what the second is called; `function` gets both.
    """

    system: str
    file_names: tuple[str, ...]
    function: str
    pinned: Mapping[str, tuple[int, ...]]
    state_path: tuple[str, ...] = ()
    as_trained: bool = False
    file_format: FileFormat = FileFormat.PICKLE
    tokenizer_source: str = ""
    is_adapter: bool = False
    tokenizer_names: tuple[str, ...] = TOKENIZER_NAMES
    second_file_names: tuple[str, ...] = ()

    def convert(self, state: "State") -> Converted:
        """Apply `function`.

        Raises:
            ConversionRefused: a key or shape is not what the system has.
        """
        module_name, _, function_name = self.function.partition(":")
        function: Callable[[State], Converted] = getattr(import_module(module_name), function_name)
        try:
            return function(state)
        except ConversionRefused:
            raise
        except ModelInvalid as error:  # of the builders of networks, which loaders use too
            raise ConversionRefused(error.message) from error
