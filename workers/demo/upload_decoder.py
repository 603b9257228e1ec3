"""`python -m workers.demo.upload_decoder FOLDER`: reads one visitor's files, sealed off; see `workers.demo.decoders`.

It says READY once all is imported, takes one line with what to read, answers with one line and the bytes that this line
announces, and ends. Whoever damages it with a file has a process that sees nothing else and that nobody uses again.
"""

import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluation.decoding import decode
from evaluation.decoding.declared_size import declared_size
from evaluation.decoding.dicom import is_dicom
from evaluation.errors import EvaluationError, InputTooLarge
from evaluation.inputs import EmbeddingInput
from workers.demo.limits import MAX_PIXELS, MAX_REFUSAL_CHARACTERS

READY = b"ready\n"


def main() -> None:
    """Serve one request."""
    folder, answers = Path(sys.argv[1]), sys.stdout.buffer
    _warm()
    answers.write(READY)
    answers.flush()
    line = sys.stdin.buffer.readline()
    if not line:
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # what libraries say of a file is for nobody's log
    request = json.loads(line)
    paths = tuple(folder / name for name in request["files"])
    try:
        header, arrays = _read(paths, measured=request["measured"])
    except EvaluationError as error:
        header, arrays = {"refused": _for_visitors(error.message, paths)[:MAX_REFUSAL_CHARACTERS]}, []
    answers.write(json.dumps(header).encode() + b"\n")
    for array in arrays:
        answers.write(array.tobytes())
    answers.flush()


def _warm() -> None:
    """Read a picture, so that what is loaded at the first one is there."""
    stream = io.BytesIO()
    Image.new("L", (1, 1)).save(stream, "PNG")
    Image.open(stream).load()


def _read(paths: tuple[Path, ...], *, measured: bool) -> tuple[dict[str, Any], list[np.ndarray[Any, Any]]]:
    """What the files show: pixels (height, width, 3) in bytes, and a volume's measured values in float32 if wanted.

    Several frames are one volume: slices in their order, or a DICOM series by position.

    Raises:
        EvaluationError: a file cannot be read.
    """
    is_volume = _checked_frames(paths) > 1
    is_series = len(paths) > 1 and all(map(is_dicom, paths))
    decoded = decode(EmbeddingInput(images=(paths[0].parent,) if is_series else paths, is_volume=is_volume))
    header: dict[str, Any] = {
        "is_volume": is_volume,
        "images": [[image.height, image.width] for image in decoded.images],
        "volume": None,
    }
    arrays = [np.asarray(image, dtype=np.uint8) for image in decoded.images]
    if measured and is_volume:
        volume = decoded.volume()
        header["volume"] = {"shape": volume.values.shape, "spacing": volume.spacing}
        arrays.append(np.ascontiguousarray(volume.values, dtype="<f4"))
    return header, arrays


def _checked_frames(paths: Sequence[Path]) -> int:
    """How many frames the files hold together, once all their pixels are known to be few enough to be decoded."""
    frames = pixels = 0
    for path in paths:
        declared = declared_size(path)
        frames += declared.frames
        pixels += declared.pixels
        if pixels > MAX_PIXELS:
            raise InputTooLarge(f"The files hold more than {MAX_PIXELS:,} pixels together. Reduce them or send fewer.")
    return frames


def _for_visitors(message: str, paths: Sequence[Path]) -> str:
    """A message without names of folders of ours."""
    for number, path in enumerate(paths, start=1):
        message = message.replace(str(path), f"File {number}")
    return message.replace(str(paths[0].parent), "The series")


if __name__ == "__main__":
    main()
