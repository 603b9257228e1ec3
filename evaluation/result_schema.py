"""What every part of a result file has to be: its JSON Schema, numbers that are finite, intervals that hold their value."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from evaluation.errors import ResultInvalid
from evaluation.types import MetricValue

SCHEMA_FILE = Path(__file__).parent / "schemas" / "result.schema.json"


def validate(document: Any, *, definition: str = "run") -> None:
    """Check a document against one definition of the schema.

    Raises:
        ResultInvalid: it breaks the schema or holds a number that is not finite.
    """
    error = best_match(_validator(definition).iter_errors(document))
    if error is not None:
        raise ResultInvalid(f"{error.json_path}: {error.message}")
    _refuse_non_finite(document)


def check_interval(task: str, metric: MetricValue) -> None:
    """Check that a metric has both ends of its interval or none, and lies between them.

    Raises:
        ResultInvalid: it does not.
    """
    if metric.lower is None or metric.upper is None:
        complete = metric.lower is metric.upper
    else:
        complete = metric.lower <= metric.value <= metric.upper
    if not complete:
        raise ResultInvalid(f"{task}: {metric.name} is not inside of its own interval.")


@cache
def _validator(definition: str) -> Draft202012Validator:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return Draft202012Validator({**schema, "$ref": f"#/$defs/{definition}"})


def _refuse_non_finite(value: Any) -> None:
    """JSON readers let NaN and infinity pass, and comparisons in a schema do too."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ResultInvalid(f"{value} is not a number that a result can hold.")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _refuse_non_finite(inner)
