"""The panel's page: fields on one side, results on the other."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from django.db import close_old_connections

from evaluation.vocabulary import DOMAIN_TITLES
from leaderboard.models.gallery import GalleryKind
from workers.demo import limits
from workers.demo.presets import EXAMPLES, OWN_INSTRUCTION, Example, instruction_choices
from workers.demo.refusals import PanelRefusal
from workers.demo.searching import Request, Search
from workers.demo.words import Comparable, comparables, comparison_html, notice_html, results_html

KEPT_SECONDS = 60
"""After which an upload that was never searched with is deleted, and also a page's results from memory."""
_SECONDS_BETWEEN_LOOKS = 5
_SHOW_STATUS = """() => {
  const status = document.querySelector("#status");
  if (status.getBoundingClientRect().top > innerHeight / 2) { status.scrollIntoView(); }
}"""
"""On a small screen the results lie below the fields."""
_SLICES_WORDS = f"Image, or up to {limits.MAX_FILES} slices: PNG, JPEG, DICOM"


class Handlers:
    """What happens when a visitor does something."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def state(self) -> str:
        """Whether searches are answered now."""
        close_old_connections()
        available = self._search.availability()
        return notice_html(available.words, "" if available.model_key else "waiting")

    def opened(self) -> tuple[str, Any]:
        """The state, and the galleries to choose from."""
        return self.state(), gr.update(choices=list(self._search.galleries()))

    def search(  # noqa: PLR0917 - Gradio gives the values of the fields in their order
        self,
        text: str,
        files: Sequence[str] | None,
        preset: str,
        own: str,
        kinds: Sequence[str],
        galleries: Sequence[str],
        domains: Sequence[str],
        request: gr.Request,
    ) -> tuple[Any, ...]:
        """Results for a query; uploads are deleted before this returns, whatever comes of it."""
        close_old_connections()
        paths = tuple(Path(file) for file in files or ())
        try:
            results = self._search.results(
                Request(
                    text=text or "",
                    instruction=own or "" if preset == OWN_INSTRUCTION else preset or "",
                    files=paths,
                    kinds=tuple(kinds),
                    galleries=tuple(galleries),
                    domains=tuple(domains),
                    address=request.client.host if request.client else "",
                )
            )
        except PanelRefusal as refusal:
            return (notice_html(refusal.message, "refused"), "", [], *_choices([]), "", None, gr.update(visible=False))
        finally:
            for path in paths:
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()
        found = comparables(results)
        words = "Your files were deleted with the answer." if paths else "Nothing of your query is kept."
        shown = f"{len(results)} results, the most similar first. {words}"
        comparing = gr.update(visible=len(found) > 1)
        return (notice_html(shown), results_html(results), found, *_choices(found), "", None, comparing)

    def compare(self, first: int | None, second: int | None, found: Sequence[Comparable]) -> str:
        """Two results side by side."""
        if first is None or second is None or max(first, second) >= len(found):
            return notice_html("Search first, then choose two results.")
        if first == second:
            return notice_html("Choose two different results.")
        return comparison_html(found[first], found[second])


def _choices(found: Sequence[Comparable]) -> tuple[Any, Any]:
    choices = [(result.title, number) for number, result in enumerate(found)]
    values = (0, 1) if len(found) > 1 else (None, None)
    return tuple(gr.update(choices=choices, value=value) for value in values)


def build_panel(search: Search) -> gr.Blocks:
    """The page; its events are no public interface."""
    handlers = Handlers(search)
    with gr.Blocks(
        title="MedBoard search", analytics_enabled=False, fill_width=True, delete_cache=(KEPT_SECONDS, KEPT_SECONDS)
    ) as panel:
        found = gr.State([], time_to_live=10 * KEPT_SECONDS)
        state = gr.HTML(elem_id="state")
        with gr.Row():
            with gr.Column(scale=2, min_width=300):
                text = gr.Textbox(
                    label="Text", lines=3, max_length=limits.MAX_TEXT_CHARACTERS, placeholder="What do you look for?"
                )
                gr.HTML('<p class="panel-caption">Or try one of these</p>')
                with gr.Row(elem_classes="examples"):
                    examples = [
                        gr.Button(one.title, size="sm", min_width=0, elem_classes="example") for one in EXAMPLES
                    ]
                files = gr.File(label=_SLICES_WORDS, file_count="multiple", height=170, elem_id="files")
                preset = gr.Dropdown(
                    label="Instruction",
                    choices=instruction_choices(),
                    value="",
                    info="Tells the model what to look for.",
                )
                own = gr.Textbox(label="Own instruction", visible=False, max_length=limits.MAX_INSTRUCTION_CHARACTERS)
                kinds = gr.CheckboxGroup(
                    label="Search in", choices=[(label, value) for value, label in GalleryKind.choices], value=["image"]
                )
                with gr.Accordion("Filters", open=False):
                    galleries = gr.CheckboxGroup(label="Galleries", info="None chosen searches all.")
                    domains = gr.CheckboxGroup(
                        label="Domains",
                        choices=[(title, domain.value) for domain, title in DOMAIN_TITLES.items()],
                        info="None chosen searches all.",
                    )
                button = gr.Button("Search", variant="primary", elem_id="search")
            with gr.Column(scale=3, min_width=300):
                status = gr.HTML(notice_html("Results will stand here."), elem_id="status")
                results = gr.HTML(elem_id="results")
                with gr.Accordion(
                    "Why not this one? Compare two results", open=False, visible=False, elem_id="compare"
                ) as comparing:
                    with gr.Row():
                        first = gr.Dropdown(label="One result", choices=[], min_width=140)
                        second = gr.Dropdown(label="Another", choices=[], min_width=140)
                    ask_why = gr.Button("Compare", size="sm", elem_id="why")
                    why = gr.HTML(elem_id="comparison")
        inputs = [text, files, preset, own, kinds, galleries, domains]
        outputs = [status, results, found, first, second, why, files, comparing]
        private: dict[str, Any] = {"api_visibility": "private"}
        panel.load(handlers.opened, None, [state, galleries], show_progress="hidden", **private)
        gr.Timer(_SECONDS_BETWEEN_LOOKS).tick(handlers.state, None, state, show_progress="hidden", **private)
        preset.change(lambda chosen: gr.update(visible=chosen == OWN_INSTRUCTION), preset, own, **private)
        searching: dict[str, Any] = {
            "fn": handlers.search, "inputs": inputs, "outputs": outputs, "concurrency_limit": 4,
            "concurrency_id": "search", **private,
        }  # fmt: skip
        for trigger in (button.click, text.submit):
            trigger(**searching).then(None, js=_SHOW_STATUS)
        for example, example_button in zip(EXAMPLES, examples, strict=True):
            example_button.click(
                _filled(example), None, [text, files, preset, kinds, galleries, domains], **private
            ).then(**searching).then(None, js=_SHOW_STATUS)
        ask_why.click(handlers.compare, [first, second, found], why, **private)
    panel.queue(max_size=32)
    return panel


def _filled(example: Example) -> Any:
    """Fills the fields for an example."""
    return lambda: (example.text, None, example.instruction, [example.kind], [], [])
