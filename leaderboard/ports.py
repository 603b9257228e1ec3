"""What the leaderboard needs from the outside, as interfaces: a model hub, and what fills the demo panel's galleries.

The leaderboard never imports a model framework. `settings.MODEL_HUB_BACKEND` names the class that implements
`ModelHub`, and `settings.GALLERY_INDEXER` the function that is a `GalleryIndexer`; the deployment's settings choose
them, as they choose an e-mail backend.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string


@dataclass(frozen=True, slots=True)
class PreflightProblem:
    """One reason why a repository cannot be evaluated.

    `code` is stable. `field` names the form field it belongs to ("repo_id", "revision", "adapter_repo_id",
    "adapter_revision"). `message` says what is wrong and what to do next. `passing` problems (a hub that does not
    answer) can vanish by themselves.
    """

    code: str
    field: str
    message: str
    passing: bool = False


@dataclass(frozen=True, slots=True)
class EncodeConfigChoice:
    """One way in which a model can be encoded.

    `sha256` is '' for what is done where nothing is asked for. `number_type` is that of the weights on a GPU;
    `reads` names what the model then embeds: "text", "image", "volume". `differences` says in short lines how it
    differs from the default.
    """

    name: str
    number_type: str
    sha256: str = ""
    reads: tuple[str, ...] = ("text", "image", "volume")
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """What the hub says of a repository, without downloading its weights.

    Facts that could not be learned are empty strings or None; then `problems` says why. `commit` is 40 hex digits.
    `parameters` counts weights from safetensors headers; `size_bytes` is what would be downloaded. `gpu_dtype` is the
    number type in which the weights are held on a GPU by default. `encode_configs` are the ways to encode that the
    model's family has, the default first; empty while the family is not known.
    """

    repo_id: str
    commit: str = ""
    adapter_repo_id: str = ""
    adapter_commit: str = ""
    family: str = ""
    architecture: str = ""
    parameters: int | None = None
    size_bytes: int | None = None
    licence: str = ""
    gated: bool = False
    gpu_dtype: str = "float32"
    encode_configs: tuple[EncodeConfigChoice, ...] = ()
    problems: tuple[PreflightProblem, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the repository can be submitted."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class FoundLine:
    """Where a line was found in a repository: the file's name and the commit of its main branch."""

    file: str
    commit: str


class ModelHub(Protocol):
    """A hub of model repositories."""

    def preflight(
        self, *, repo_id: str, revision: str = "", adapter_repo_id: str = "", adapter_revision: str = ""
    ) -> PreflightReport:
        """Check a repository without downloading weights. Never raises for anything that a visitor can cause."""
        ...

    def find_line(self, *, repo_id: str, line: str, files: Sequence[str]) -> FoundLine | PreflightProblem | None:
        """Look for a line in the named files at the top of a repository's main branch, in the order of the names.

        Only who may write to the repository can put it there: a proposed change lies on another branch. None where no
        file has the line, a problem where the repository or a file cannot be read.
        """
        ...


def model_hub() -> ModelHub:
    """The configured hub."""
    backend = import_string(settings.MODEL_HUB_BACKEND)
    hub: ModelHub = backend(endpoint=settings.HUB_ENDPOINT, token=settings.HUB_TOKEN)
    return hub


class GalleryIndexer(Protocol):
    """Fills the galleries of the demo panel."""

    def __call__(self, suites: Sequence[str], *, remove_old: bool = False) -> Iterator[str]:
        """Index suites (all that are installed, if none is named), and say line by line how far it is.

        With `remove_old`, galleries of other models and of other versions of suites go once that is done.

        Raises:
            ApplicationError: it cannot go on; the message says why and what to do.
        """
        ...


def gallery_indexer() -> GalleryIndexer:
    """The configured indexer."""
    indexer: GalleryIndexer = import_string(settings.GALLERY_INDEXER)
    return indexer
