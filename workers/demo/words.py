"""Results and comparisons as HTML for the panel; every text is escaped by the templates."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from PIL import Image

from evaluation.vocabulary import DOMAIN_TITLES, Domain
from workers.demo.messages import IMAGES, TEXT
from workers.demo.searching import Result

_KINDS = {"image": "Image", "volume": "Volume", "text": "Text"}
_PARTS = {TEXT: "Similarity to your text alone", IMAGES: "Similarity to your image alone"}
_TITLE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Comparable:
    """What a comparison needs of a result; nothing of the query but the words that both have."""

    title: str
    label: str
    kind: str
    score: float
    parts: dict[str, float]
    shared: tuple[str, ...]


def notice_html(words: str, kind: str = "") -> str:
    """A sentence; `refused` ones are read out at once."""
    return render_to_string("demo/notice.html", {"words": words, "kind": kind})


def results_html(results: Sequence[Result]) -> str:
    """The list of results."""
    return render_to_string("demo/results.html", {"results": [_shown(result) for result in results]})


def comparables(results: Sequence[Result]) -> list[Comparable]:
    """The results as they can be compared."""
    return [
        Comparable(
            title=f"{number}. {_title(result)}",
            label=result.hit.label or result.hit.caption,
            kind=_KINDS[result.hit.kind],
            score=result.hit.score,
            parts=dict(result.hit.parts),
            shared=result.shared,
        )
        for number, result in enumerate(results, start=1)
    ]


def comparison_html(first: Comparable, second: Comparable) -> str:
    """Why one stands before the other, in a sentence and a table."""
    rows = [("Similarity to the query", f"{first.score:.3f}", f"{second.score:.3f}")]
    rows += [
        (words, f"{first.parts[name]:.3f}", f"{second.parts[name]:.3f}")
        for name, words in _PARTS.items()
        if name in first.parts
    ]
    rows.append(("Words shared with your text", _listed(first.shared), _listed(second.shared)))
    rows += [("Label or text", first.label, second.label), ("Kind", first.kind, second.kind)]
    context = {
        "first": first,
        "second": second,
        "rows": [dict(zip(("name", "first", "second"), row, strict=True)) for row in rows],
        "verdict": _verdict(first, second),
    }
    return render_to_string("demo/comparison.html", context)


def _verdict(first: Comparable, second: Comparable) -> str:
    near, far = (first, second) if first.score >= second.score else (second, first)
    gap = near.score - far.score
    sentence = f"“{near.title}” is nearer to the query by {gap:.3f} of cosine."
    apart = [(_PARTS[name], near.parts[name] - far.parts[name]) for name in near.parts]
    if against := [words.lower() for words, difference in apart if difference < 0]:
        sentence += f" It is farther in {' and '.join(against)}, which the rest outweighs."
    only = sorted(set(near.shared) - set(far.shared))
    return f"{sentence} Only it has the words {', '.join(only)}." if only else sentence


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or "none"


def _title(result: Result) -> str:
    """The label, or the first sentence of the caption, or what it is."""
    hit = result.hit
    text = hit.label or hit.caption.partition(". ")[0] or f"{_KINDS[hit.kind]} without a label"
    return text if len(text) <= _TITLE_CHARACTERS else f"{text[: _TITLE_CHARACTERS - 1]}…"


def _shown(result: Result) -> dict[str, Any]:
    hit = result.hit
    title = _title(result)
    shown: dict[str, Any] = {
        "title": title,
        "score": f"{hit.score:.3f}",
        "caption": hit.caption.removeprefix(title).removeprefix(". "),  # of which a title may be the beginning
        "kind": _KINDS[hit.kind],
        "domain": DOMAIN_TITLES[Domain(hit.domain)],
        "source": hit.source,
        "licence": hit.licence,
        "synthetic": hit.synthetic,
        "alt": f"{_KINDS[hit.kind]}: {title}",
        "picture": None if hit.picture is None else _data_address(hit.picture),
    }
    if hit.whole is not None and hit.box is not None:
        with Image.open(io.BytesIO(hit.whole), formats=["JPEG"]) as image:
            width, height = image.size
        left, top, right, bottom = hit.box
        shown |= {
            "whole": _data_address(hit.whole),
            "whole_width": width,
            "whole_height": height,
            "box": hit.box,
            "box_width": right - left,
            "box_height": bottom - top,
        }
    return shown


def _data_address(picture: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(picture).decode('ascii')}"
