"""The README.md of a trained lite-dual model."""

from collections.abc import Mapping

from evaluation.types import SuiteSpec


def model_card(suite: SuiteSpec, sources: Mapping[str, int], *, seed: int, steps: int) -> str:
    """What the model is, what it was trained on, and what it is not for."""
    kind = "synthetic phantoms drawn by a program; no patient data" if suite.synthetic else "real public data sets"
    rows = "\n".join(f"| {source} | {count} |" for source, count in sources.items())
    return f"""---
library_name: medboard
pipeline_tag: feature-extraction
---

# lite-dual trained on {suite.title}

Two frozen towers, EfficientNet-Lite0 for images and all-MiniLM-L6-v2 for texts, each followed by a linear projection
into one space of 384 dimensions. Only the projections were trained, with a symmetric contrastive loss in which
positives of the same label or content are not negatives of each other.

- Data: train split of suite `{suite.slug}` version {suite.version} ({kind}).
- Seed {seed}, {steps} steps.
- No score is claimed here: evaluate the model to see how it does. It is a small example, not for clinical use.

| Training source | Pairs |
|---|---|
{rows}
"""
