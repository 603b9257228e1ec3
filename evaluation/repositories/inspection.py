"""What a repository is and why it could not be evaluated, from its listing, small files and weight headers."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from evaluation.embedders.registry import (
    ADAPTABLE_FAMILIES,
    adapter_problems,
    document_problems,
    family_of_config,
    safety_problems,
)
from evaluation.embedders.safety.chat_templates import text_problems
from evaluation.embedders.safety.declared_sizes import size_problems
from evaluation.embedders.safety.repository import (
    CONFIG_NAMES,
    INDEX_NAME,
    OPEN_CLIP_CONFIG,
    PROBLEM_KINDS,
    index_problems,
)
from evaluation.embedders.safety.weight_headers import StoredWeights, total
from evaluation.errors import AdapterMismatch, EvaluationError, ModelInvalid, ModelUnsupported
from evaluation.hub.errors import ModelTooLarge
from evaluation.repositories.client import HubClient, Listing
from evaluation.repositories.files import MODULES_NAME, files_to_download, weights_among
from evaluation.vocabulary import EmbedderFamily

CONFIG_NAME = "config.json"
ADAPTER_CONFIG_NAME = "adapter_config.json"
CONCURRENT_REQUESTS = 8
MAX_WEIGHT_FILES = 200


@dataclass(frozen=True, slots=True)
class Inspection:
    """A repository at one commit. `files` are those to download. `problems` are empty where it can be evaluated.

    `family` is None, `parameters` is None and `config` is empty where a problem kept them from being learned.
    """

    listing: Listing
    files: tuple[str, ...]
    config: Mapping[str, Any]
    family: EmbedderFamily | None
    parameters: int | None
    problems: tuple[EvaluationError, ...]

    @property
    def size_bytes(self) -> int:
        """What would be downloaded."""
        return sum(self.listing.sizes[name] for name in self.files)

    @property
    def architecture(self) -> str:
        """The first name under "architectures" of the configuration, else its model type."""
        named = self.config.get("architectures")
        first = named[0] if isinstance(named, list) and named else self.config.get("model_type")
        return first if isinstance(first, str) else ""


def inspect_model(client: HubClient, listing: Listing, *, max_bytes: int) -> Inspection:
    """Check a model repository. Reads configuration files and headers of weights only."""
    documents, problems = _read_documents(client, listing)
    config = _expect(documents, CONFIG_NAME, dict, {}, problems)
    modules = _expect(documents, MODULES_NAME, list, None, problems)
    files = files_to_download(listing.sizes, modules)
    family = None
    # What could not be read is a problem already; judging its absence would add misleading ones.
    if _was_read(listing, documents, CONFIG_NAME) and _was_read(listing, documents, MODULES_NAME):
        family = _family(config, listing, modules, problems)
        problems += map(_error_of, safety_problems(config, _names_to_judge(listing, files), modules))
    return _inspection(client, listing, files, config=config, family=family, problems=problems, max_bytes=max_bytes)


def inspect_adapter(client: HubClient, listing: Listing, *, max_bytes: int) -> Inspection:
    """Check an adapter repository by itself; `base_problems` checks it against its base model."""
    documents, problems = _read_documents(client, listing)
    config = _expect(documents, ADAPTER_CONFIG_NAME, dict, {}, problems)
    files = files_to_download(listing.sizes)
    if ADAPTER_CONFIG_NAME not in listing.sizes:
        problems.append(ModelInvalid(f"{listing.repo_id} has no {ADAPTER_CONFIG_NAME}, so it is not an adapter."))
    elif ADAPTER_CONFIG_NAME in documents:
        problems += map(_error_of, adapter_problems(config, listing.sizes))
    return _inspection(client, listing, files, config=config, family=None, problems=problems, max_bytes=max_bytes)


def base_problems(adapter: Inspection, *, base: Inspection) -> list[EvaluationError]:
    """Why an adapter does not go with a base model: a family without adapters, or another base in its configuration."""
    if base.family is not None and base.family not in ADAPTABLE_FAMILIES:
        message = f"Models of the family {base.family} take no adapter; submit {base.listing.repo_id} without one."
        return [ModelUnsupported(message)]
    if not adapter.config:
        return []
    named = adapter.config.get("base_model_name_or_path")
    if isinstance(named, str) and _is_same_model(named, base.listing.repo_id):
        return []
    message = (
        f"{adapter.listing.repo_id} adapts {named!r}, not {base.listing.repo_id}; submit it with its own base model."
    )
    return [AdapterMismatch(message)]


def _is_same_model(named: str, repo_id: str) -> bool:
    """Whether a base model's name, an id or the path of a folder it was trained in, is that of a repository."""
    path = PurePosixPath(named)
    is_hub_id = len(path.parts) == len(PurePosixPath(repo_id).parts) and not named.startswith((".", "/", "~"))
    expected = repo_id if is_hub_id else PurePosixPath(repo_id).name
    given = named if is_hub_id else path.name
    return given.lower() == expected.lower()


def _read_documents(client: HubClient, listing: Listing) -> tuple[dict[str, Any], list[EvaluationError]]:
    """Every configuration file at the top of the repository, parsed, and the problems with reading them."""
    names = sorted(name for name in listing.sizes if name in CONFIG_NAMES or name in (MODULES_NAME, INDEX_NAME))
    read = _all_or_errors([partial(client.document, listing, name) for name in names])
    documents = {name: value for name, value in zip(names, read, strict=True) if not isinstance(value, EvaluationError)}
    problems = [value for value in read if isinstance(value, EvaluationError)]
    for name, document in documents.items():
        if name == INDEX_NAME:
            problems += map(_error_of, index_problems(name, document, listing.sizes))
        elif name not in (CONFIG_NAME, ADAPTER_CONFIG_NAME, MODULES_NAME):
            problems += map(_error_of, document_problems(name, document))
    return documents, problems + _template_problems(client, listing)


def _template_problems(client: HubClient, listing: Listing) -> list[EvaluationError]:
    """The problems of the chat templates that are files of their own at the top of the repository."""
    names = [name for name in sorted(listing.sizes) if name.endswith(".jinja") and "/" not in name]
    read = _all_or_errors([partial(client.text, listing, name) for name in names])
    problems: list[EvaluationError] = []
    for name, text in zip(names, read, strict=True):
        problems += [text] if isinstance(text, EvaluationError) else map(_error_of, text_problems(name, text))
    return problems


def _expect(documents: dict[str, Any], name: str, kind: type, default: Any, problems: list[EvaluationError]) -> Any:
    """The named document where it is of the kind; a document of another kind becomes a problem and is dropped."""
    document = documents.get(name)
    if document is None or isinstance(document, kind):
        return default if document is None else document
    del documents[name]
    problems.append(ModelInvalid(f"{name} must hold a JSON {'object' if kind is dict else 'list'}; correct it."))
    return default


def _was_read(listing: Listing, documents: Mapping[str, Any], name: str) -> bool:
    return name in documents or name not in listing.sizes


def _family(
    config: Mapping[str, Any], listing: Listing, modules: Any, problems: list[EvaluationError]
) -> EmbedderFamily | None:
    if not config and modules is None and not {ADAPTER_CONFIG_NAME, OPEN_CLIP_CONFIG} & listing.sizes.keys():
        problems.append(ModelInvalid(f"{listing.repo_id} has no {CONFIG_NAME}; add the one that its library writes."))
        return None
    try:
        return family_of_config(config, listing.sizes, modules)
    except ModelUnsupported as error:
        problems.append(error)
        return None


def _names_to_judge(listing: Listing, files: Iterable[str]) -> frozenset[str]:
    """All names but those of safetensors files that no loader looks for, which can't stand for the weights."""
    loaded = frozenset(files)
    return frozenset(name for name in listing.sizes if name in loaded or not name.endswith(".safetensors"))


def _inspection(
    client: HubClient,
    listing: Listing,
    files: tuple[str, ...],
    *,
    config: Mapping[str, Any],
    family: EmbedderFamily | None,
    problems: list[EvaluationError],
    max_bytes: int,
) -> Inspection:
    size = sum(listing.sizes[name] for name in files)
    if size > max_bytes:
        message = f"{listing.repo_id} has {size:,} bytes to download; this site takes up to {max_bytes:,}."
        problems.append(ModelTooLarge(message))
    stored = _stored_weights(client, listing, weights_among(files), problems)
    if stored is not None and stored.tensors:
        name = CONFIG_NAME if CONFIG_NAME in listing.sizes else ADAPTER_CONFIG_NAME
        problems += map(_error_of, size_problems(name, config, stored))
    distinct = {error.message: error for error in problems}
    return Inspection(
        listing=listing,
        files=files,
        config=config,
        family=family,
        parameters=None if stored is None else stored.parameters,
        problems=tuple(distinct.values()),
    )


def _stored_weights(
    client: HubClient, listing: Listing, names: tuple[str, ...], problems: list[EvaluationError]
) -> StoredWeights | None:
    if len(names) > MAX_WEIGHT_FILES:
        problems.append(ModelInvalid(f"{listing.repo_id} has {len(names)} files of weights; merge them into fewer."))
        return None
    headers = _all_or_errors([partial(client.weights, listing, name) for name in names])
    errors = [header for header in headers if isinstance(header, EvaluationError)]
    problems += errors
    return None if errors else total(headers)


def _all_or_errors(questions: list[Callable[[], Any]]) -> list[Any]:
    """Ask at once; an answer, or the error in its place, for each question."""

    def ask(question: Callable[[], Any]) -> Any:
        try:
            return question()
        except EvaluationError as error:
            return error

    with ThreadPoolExecutor(CONCURRENT_REQUESTS, thread_name_prefix="hub-inspection") as pool:
        return list(pool.map(ask, questions))


_ERROR_OF_CODE: dict[str, type[EvaluationError]] = {kind.code: kind for kind in PROBLEM_KINDS}


def _error_of(problem: tuple[str, str]) -> EvaluationError:
    code, message = problem
    return _ERROR_OF_CODE[code](message)
