"""`build anchors`, `build questions`, `build medtec-mini` and `build medtec-demo`: MedTEC suites and their parts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from evaluation.manifest import MANIFEST_NAME
from evaluation.probe_types import ProbeSuiteSpec
from evaluation.suites.medtec.anchors.building import build_anchor_set
from evaluation.suites.medtec.anchors.catalogue import DATA_SETS, data_set_named
from evaluation.suites.medtec.anchors.manifest import FOLDER as ANCHORS
from evaluation.suites.medtec.anchors.manifest import AnchorHeader, read_header
from evaluation.suites.medtec.demo import build_medtec_demo
from evaluation.suites.medtec.mini import build_medtec_mini
from evaluation.suites.medtec.questions import QuestionSet, build_vqa_rad
from evaluation.suites.medtec.suite import read_probe_suite, write_probe_suite

Source = Annotated[Path, typer.Option(help="The folder with the publisher's tables and images.")]
SuiteFolder = Annotated[Path, typer.Option(help="The suite's folder; what it holds already stays.")]
NewFolder = Annotated[Path, typer.Option(help="Where the suite goes; must not exist or be empty.")]


def build_anchors_command(
    data_set: Annotated[str, typer.Argument(help=f"One of {', '.join(DATA_SETS)}.")],
    source: Source,
    out: SuiteFolder,
    per_label: Annotated[int | None, typer.Option(min=1, help="At most so many anchors of each label.")] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="A label to take, repeatable; all of the data set's by default.")
    ] = None,
) -> None:
    """Choose the anchors of one data set, put them into a suite's folder, and write its task list anew."""
    header = build_anchor_set(
        data_set_named(data_set), source=source, folder=out, strata=tuple(label or ()), per_label=per_label
    )
    _show_anchors([header])
    _show_suite(_with_tasks(out), out)


def build_questions_command(source: Source, out: SuiteFolder) -> None:
    """Put the closed questions of VQA-RAD into a suite's folder, and write its task list anew."""
    _show_questions(build_vqa_rad(source, out))
    _show_suite(_with_tasks(out), out)


def build_medtec_mini_command(
    raw: Annotated[Path, typer.Option(help="The folder of raw data sets, with open/ and research/.")], out: NewFolder
) -> None:
    """Build the MedTEC mini suite from small subsets of real public data."""
    suite = build_medtec_mini(raw, out)
    _show_anchors([read_header(path) for path in sorted((out / ANCHORS).glob("*.csv"))])
    _show_suite(suite, out)


def build_medtec_demo_command(out: NewFolder) -> None:
    """Draw the synthetic MedTEC demo suite, which needs no data."""
    _show_suite(build_medtec_demo(out), out)


def _with_tasks(out: Path) -> ProbeSuiteSpec:
    """Write the task list again under the name that the suite has, or a first one."""
    if not (out / MANIFEST_NAME).exists():
        return write_probe_suite(out, slug="medtec", version="1", title="MedTEC", synthetic=False)
    known = read_probe_suite(out)
    return write_probe_suite(out, slug=known.slug, version=known.version, title=known.title, synthetic=known.synthetic)


def _show_anchors(headers: list[AnchorHeader]) -> None:
    for header in headers:
        Console().print(
            f"{header.name} ({header.modality}): {sum(header.labels.values())} anchors of {header.rows} images; "
            f"{_listed(header.labels)}; left out: {_listed(header.dropped)}",
            soft_wrap=True,
            highlight=False,
        )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{key} {count}" for key, count in counts.items()) or "-"


def _show_questions(found: QuestionSet) -> None:
    Console().print(
        f"{found.rows} rows, {found.repeats} repeats, {found.open} open; {len(found.questions)} closed questions with "
        f"statements ({_listed(found.counts_by_rule())}), {len(found.without_rule)} without a rule",
        soft_wrap=True,
    )


def _show_suite(suite: ProbeSuiteSpec, out: Path) -> None:
    Console().print(f"{suite.title}, version {suite.version}: {len(suite.tasks)} tasks in {out}", soft_wrap=True)
