"""What a probing suite's board says, as frozen values and as JSON: the snapshot that is published.

`schemas/probe_board.schema.json` is the JSON Schema; `board_rows` says what each row means.
"""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

import evaluation
from evaluation.errors import ResultInvalid
from evaluation.suites.medtec.board_rows import (
    BlindBaseline,
    Ceiling,
    ClosedQuestions,
    LeftOut,
    MissingAttribute,
    NegationCount,
    ProbeCell,
    ProbeCheck,
    ProtocolAgreement,
    ProtocolStanding,
    SampleSize,
    StyleSpread,
    StyleSummary,
    Subgroup,
    SubgroupGap,
)

SCHEMA_VERSION = 1
SCHEMA_FILE = Path(evaluation.__file__).parent / "schemas" / "probe_board.schema.json"


@dataclass(frozen=True, slots=True)
class ProbeBoard:
    """Everything about the models of one probing suite; each table is one of the analyses."""

    suite: str
    version: str
    suite_sha256: str
    seed: int
    resamples: int
    models: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    cells: tuple[ProbeCell, ...]
    ceilings: tuple[Ceiling, ...]
    styles: tuple[StyleSpread, ...]
    style_summary: StyleSummary
    negation: tuple[NegationCount, ...]
    subgroups: tuple[Subgroup, ...]
    subgroup_gaps: tuple[SubgroupGap, ...]
    missing_attributes: tuple[MissingAttribute, ...]
    sample_size: tuple[SampleSize, ...]
    closed_questions: tuple[ClosedQuestions, ...]
    protocols: tuple[ProtocolStanding, ...]
    agreements: tuple[ProtocolAgreement, ...]
    checks: tuple[ProbeCheck, ...]
    blind_baselines: tuple[BlindBaseline, ...]


_TABLES: Mapping[str, type[Any]] = {
    "left_out": LeftOut,
    "cells": ProbeCell,
    "ceilings": Ceiling,
    "styles": StyleSpread,
    "negation": NegationCount,
    "subgroups": Subgroup,
    "subgroup_gaps": SubgroupGap,
    "missing_attributes": MissingAttribute,
    "sample_size": SampleSize,
    "closed_questions": ClosedQuestions,
    "protocols": ProtocolStanding,
    "agreements": ProtocolAgreement,
    "checks": ProbeCheck,
    "blind_baselines": BlindBaseline,
}


def probe_board_to_json(board: ProbeBoard) -> dict[str, Any]:
    """A board as JSON values."""
    return {"schema_version": SCHEMA_VERSION, **json.loads(json.dumps(dataclasses.asdict(board), allow_nan=False))}


def probe_board_from_json(document: Any) -> ProbeBoard:
    """A board from JSON values.

    Raises:
        ResultInvalid: the document breaks the schema; the message names the field.
    """
    error = best_match(_validator().iter_errors(document))
    if error is not None:
        raise ResultInvalid(f"{error.json_path}: {error.message}")
    plain = {key: value for key, value in document.items() if key != "schema_version"}
    tables = {name: tuple(_row(kind, row) for row in document[name]) for name, kind in _TABLES.items()}
    summary = StyleSummary(**document["style_summary"])
    return ProbeBoard(**plain | tables | {"models": tuple(document["models"]), "style_summary": summary})


def _row(kind: type[Any], document: Mapping[str, Any]) -> Any:
    return kind(**{key: tuple(value) if isinstance(value, list) else value for key, value in document.items()})


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
