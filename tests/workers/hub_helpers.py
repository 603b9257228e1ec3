"""Repositories and request logs for tests that talk to the local hub."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save

CARD = "---\nlicense: apache-2.0\ntags:\n- test\n---\n# A test model\n"
CLIP_CONFIG = {"model_type": "clip", "architectures": ["CLIPModel"], "projection_dim": 8}


def weights(*, rows: int = 3, columns: int = 4) -> bytes:
    """A safetensors file with rows * columns + 5 float32 parameters."""
    tensors = {"layer.weight": np.ones((rows, columns), np.float32), "layer.bias": np.zeros(5, np.float32)}
    return save(tensors, metadata={"format": "pt"})


def clip_files(changed: dict[str, bytes | None] | None = None) -> dict[str, bytes]:
    """The files of a small repository that passes every check, changed; a file that is None is left out."""
    files: dict[str, bytes | None] = {
        "README.md": CARD.encode(),
        "config.json": json.dumps(CLIP_CONFIG).encode(),
        "preprocessor_config.json": b"{}",
        "tokenizer.json": b"{}",
        "model.safetensors": weights(),
    }
    files |= changed or {}
    return {path: content for path, content in files.items() if content is not None}


def write_repository(root: Path, repo_id: str, files: dict[str, bytes], **settings: object) -> Path:
    folder = root / repo_id
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    if settings:
        (folder / ".hub.json").write_text(json.dumps(settings))
    return folder


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    status: int
    sent: int


class RequestLog(logging.Handler):
    """What the local hub was asked and how many bytes of content it sent."""

    def __init__(self) -> None:
        super().__init__(level=logging.INFO)
        self.requests: list[Request] = []

    def emit(self, record: logging.LogRecord) -> None:
        method, path, status, sent = record.args
        self.requests.append(Request(method, path, int(status), sent))

    def gets(self, ending: str) -> list[Request]:
        return [request for request in self.requests if request.method == "GET" and request.path.endswith(ending)]

    @property
    def sent(self) -> int:
        return sum(request.sent for request in self.requests)
