"""The README.md of a trained model."""

from collections.abc import Mapping
from typing import Any

from evaluation.types import SuiteSpec

_NOT_CLINICAL = "For research on retrieval. Not for clinical decisions."


def lite_dual_card(suite: SuiteSpec, sources: Mapping[str, int], *, seed: int, steps: int) -> str:
    """What the model is, what it was trained on, and what it is not for."""
    kind = "synthetic phantoms drawn by a program; no patient data" if suite.synthetic else "real public data sets"
    return f"""---
library_name: medboard
pipeline_tag: feature-extraction
---

# lite-dual trained on {suite.title}

Two frozen towers, EfficientNet-Lite0 for images and all-MiniLM-L6-v2 for texts, each followed by a linear projection
into one space of 384 dimensions. The projections were trained with a symmetric contrastive loss in which
positives of the same label or content are not negatives of each other.

- Data: train split of suite `{suite.slug}` version {suite.version} ({kind}).
- Seed {seed}, {steps} steps.
- No score is claimed here: evaluate the model to see how it does. It is a small example, not for clinical use.

{_table(("Training source", "Pairs"), sources)}
"""


def adapter_card(
    *,
    base: str,
    sources: Mapping[str, int],
    data_sha256: str,
    settings: Mapping[str, Any],
    encode_config: Mapping[str, Any],
    scores: Mapping[str, float],
    dev_suite: str,
) -> str:
    """The card of an adapter: its base, its data, every setting, and its scores on the dev suite if there was one.

    Args:
        base: id of the base model on the hub.
        sources: training records by source.
        data_sha256: over the training files.
        settings: names and values, nested ones with dots between.
        encode_config: how inputs were read, and must be.
        scores: Hit@1 by group, in [0, 1].
        dev_suite: its title and version; empty without one.
    """
    percent = {name: f"{100 * value:.1f}" for name, value in scores.items()}
    measured = (
        f"Hit@1 in percent on {dev_suite}, with this adapter merged into its base:\n\n{_table(('Group', 'Hit@1'), percent)}"
        if scores
        else "None was measured during training: evaluate the model to see how it does."
    )
    return f"""---
base_model: {base}
library_name: peft
pipeline_tag: feature-extraction
tags:
- medical
- retrieval
---

# Adapter on {base}

A low-rank adapter for embedding medical texts, images and volumes, trained with an instruction-conditioned contrastive
loss. {_NOT_CLINICAL}

## Use

Submit the base model with this repository as its adapter. Inputs must be read as the table of the encode config says.

## Scores

{measured}

## Training data

Records of each source; sha256 over the files: `{data_sha256}`.

{_table(("Source", "Records"), sources)}

## Settings

{_table(("Setting", "Value"), settings)}

## Encode config

{_table(("Setting", "Value"), encode_config)}
"""


def _table(headings: tuple[str, str], rows: Mapping[str, Any]) -> str:
    lines = [f"| {headings[0]} | {headings[1]} |", "|---|---|"]
    return "\n".join(lines + [f"| {name} | {_cell(value)} |" for name, value in rows.items()])


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
