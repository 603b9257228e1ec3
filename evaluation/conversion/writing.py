"""From an official file to a safetensors folder: hash first, then read tensors only, check, and write all or nothing."""

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import torch
from safetensors.torch import load as load_safetensors
from safetensors.torch import save_file

from evaluation.conversion.checking import require_shapes
from evaluation.conversion.conversion import Conversion, Converted, FileFormat
from evaluation.embedders.safety.folder import check_adapter_safety, check_folder_safety
from evaluation.embedders.safety.repository import read_object
from evaluation.errors import ConversionRefused

_WRAPPED = "module."
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class OfficialFile:
    """An official file under its official name, and its sha256 from a source that the operator trusts."""

    path: Path
    sha256: str


def convert_file(
    conversion: Conversion,
    *,
    file: Path,
    sha256: str,
    out: Path,
    tokenizer: Path | None,
    second: OfficialFile | None = None,
) -> None:
    """Convert an official file into the folder `out`, which appears only when it is complete.

    Args:
        conversion: the system.
        file: the official file, under its official name.
        sha256: of the file, from a source that the operator trusts; checked before a byte of it is interpreted.
        out: must not exist yet.
        tokenizer: a folder with the tokenizer's files, where the system needs one.
        second: the second official file, where the system has two.

    Raises:
        ConversionRefused: name, digest, content or tokenizer are not as they have to be; nothing is written.
        ModelUnsafe, ModelUnsupported, ModelInvalid: the tokenizer's files, or an adapter's config, would not be loaded.
    """
    _require_arguments(conversion, file=file, sha256=sha256, out=out, tokenizer=tokenizer)
    _require_second(conversion, second)
    state = _read_state(conversion, file, sha256)
    origin: dict[str, Any] = {"system": conversion.system, "converted_from": {"file": file.name, "sha256": sha256}}
    if second is not None:
        state = _joined(state, _read_state(conversion, second.path, second.sha256))
        origin["and_from"] = {"file": second.path.name, "sha256": second.sha256}
    require_shapes(state, conversion.pinned)
    converted = conversion.convert(state)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as name:
        folder = Path(name) / out.name
        folder.mkdir()
        if conversion.is_adapter:
            _write_adapter(folder, converted, origin, beside=file)
            check_adapter_safety(folder)
        else:
            _write(folder, converted, origin)
            if tokenizer is not None:
                _copy_tokenizer(tokenizer, folder, names=conversion.tokenizer_names)
            check_folder_safety(folder)
        folder.rename(out)


def _require_arguments(conversion: Conversion, *, file: Path, sha256: str, out: Path, tokenizer: Path | None) -> None:
    if file.name not in conversion.file_names:
        known = " or ".join(conversion.file_names)
        raise ConversionRefused(
            f"{file.name} is not the official file of {conversion.system}, which is called {known}."
        )
    if not _SHA256.fullmatch(sha256):
        raise ConversionRefused("--sha256 must be 64 hexadecimal digits in small letters.")
    if out.exists():
        raise ConversionRefused(f"{out} exists already; remove it, or give another folder.")
    if conversion.tokenizer_source and tokenizer is None:
        raise ConversionRefused(
            f"{conversion.system} needs a tokenizer: give --tokenizer FOLDER with the files of {conversion.tokenizer_source}."
        )
    if not conversion.tokenizer_source and tokenizer is not None:
        raise ConversionRefused(f"{conversion.system} takes no --tokenizer.")


def _require_second(conversion: Conversion, second: OfficialFile | None) -> None:
    names = conversion.second_file_names
    if names and second is None:
        raise ConversionRefused(
            f"{conversion.system} comes in two files: give --second-file and --second-sha256 of {' or '.join(names)}."
        )
    if second is None:
        return
    if second.path.name not in names:
        raise ConversionRefused(f"{second.path.name} is not a second official file of {conversion.system}.")
    if not _SHA256.fullmatch(second.sha256):
        raise ConversionRefused("--second-sha256 must be 64 hexadecimal digits in small letters.")


def _joined(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    if shared := sorted(first.keys() & second.keys()):
        raise ConversionRefused(f"Both files hold {shared[0]}; give each official file once.")
    return first | second


def _read_state(conversion: Conversion, file: Path, sha256: str) -> dict[str, torch.Tensor]:
    """The tensors by name, from the very stream whose digest was taken."""
    try:
        with file.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
            if found != sha256:
                raise ConversionRefused(f"{file.name} has the sha256 {found}, not {sha256}; download it again.")
            stream.seek(0)
            content = _parse(conversion, stream)
    except OSError as error:
        raise ConversionRefused(f"{file} cannot be read: {error.strerror}.") from error
    if conversion.as_trained:
        content = _without_trainer(content)
    for key in conversion.state_path:
        content = content.get(key) if isinstance(content, Mapping) else None
    if not isinstance(content, Mapping) or not content:
        where = ".".join(conversion.state_path) or "its top"
        raise ConversionRefused(f"{file.name} holds no tensors by name at {where}.")
    strange = [
        name for name, value in content.items() if not isinstance(name, str) or not isinstance(value, torch.Tensor)
    ]
    if strange:
        raise ConversionRefused(f"{file.name} holds {strange[0]!r}, which is no tensor.")
    return dict(content)


def _without_trainer(content: Any) -> Any:
    """What a trainer wrote down, or the weights alone, as the weights alone."""
    state = content.get("state_dict", content) if isinstance(content, Mapping) else content
    if isinstance(state, Mapping) and all(isinstance(name, str) and name.startswith(_WRAPPED) for name in state):
        return {name.removeprefix(_WRAPPED): value for name, value in state.items()}
    return state


def _parse(conversion: Conversion, stream: IO[bytes]) -> Any:
    try:
        if conversion.file_format is FileFormat.SAFETENSORS:
            return load_safetensors(stream.read())
        return torch.load(stream, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged files make both readers raise anything at all
        first_line = str(error).partition("\n")[0]
        raise ConversionRefused(
            f"The file cannot be read as tensors only ({type(error).__name__}: {first_line})."
        ) from error


def _write(folder: Path, converted: Converted, origin: Mapping[str, Any]) -> None:
    _write_tensors(folder / "model.safetensors", converted)
    for name, document in {**converted.documents, "config.json": {**converted.config, **origin}}.items():
        _write_document(folder / name, document)


def _write_adapter(folder: Path, converted: Converted, origin: Mapping[str, Any], *, beside: Path) -> None:
    _write_tensors(folder / "adapter_model.safetensors", converted)
    _write_document(folder / "adapter_config.json", read_object(beside.parent / "adapter_config.json"))
    _write_document(folder / "conversion.json", origin)


def _write_tensors(path: Path, converted: Converted) -> None:
    tensors = {name: tensor.detach().clone().contiguous() for name, tensor in converted.tensors.items()}
    save_file(tensors, path, metadata={"format": "pt"})


def _write_document(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _copy_tokenizer(source: Path, folder: Path, *, names: tuple[str, ...]) -> None:
    present = [name for name in names if (source / name).is_file()]
    if not {"tokenizer.json", "vocab.txt", "vocab.json"} & set(present):
        raise ConversionRefused(
            f"{source} has none of tokenizer.json, vocab.txt and vocab.json; give a tokenizer's folder."
        )
    for name in present:
        shutil.copyfile(source / name, folder / name)
