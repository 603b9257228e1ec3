"""The markdown table of probing results, against a table written by hand."""

from evaluation.commands.table import markdown_table
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import ModelIdentity, RunResult, SuiteIdentity
from evaluation.types import MetricValue, ModelDescription
from evaluation.vocabulary import EmbedderFamily, ProbeTaskKind

DESCRIPTION = ModelDescription(EmbedderFamily.CHANCE, "guess", dimension=2, parameters=0, kinds=(), encode_config={})

BY_HAND = """\
Small suite 2, synthetic data.
Mean Discrimination Score with its 95% interval; D discriminates, N near chance, C collapse, CC certain collapse.

| Modality | Model | n | L1 | L2 | L3 | L4 | L5 | Collapses first at |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| Fundus | one | 7–9 | 0.200 (0.100 to 0.300) D | 0.030 (0.010 to 0.040) N | -0.100 (-0.200 to -0.050) CC | – | – | L3 |
| Fundus | two | 9 | 0.060 (0.010 to 0.100) D | – | – | – | – | none |
| Fundus, odir5k | one | 9 | – | – | – | -0.010 (-0.030 to 0.010) C | – | L4 |

| Model | vqa_rad.closed_questions (balanced_accuracy) |
| --- | --- |
| one | – |
| two | 0.500 (0.400 to 0.600) |
"""


def result(task: str, value: float, lower: float, upper: float, *, n: int = 9) -> ProbeTaskResult:
    is_cell = not task.startswith("vqa_rad")
    return ProbeTaskResult(
        task=task,
        kind=ProbeTaskKind.CELL if is_cell else ProbeTaskKind.CLOSED_QUESTIONS,
        spec_sha256="0" * 64,
        data_sha256="0" * 64,
        metrics=(MetricValue("ds" if is_cell else "balanced_accuracy", value, lower, upper),),
        chance=None,
        counts={"anchors": n},
        arrays={},
        n_inputs=1,
        seconds_embedding=0.0,
        seconds_scoring=0.0,
        peak_memory_bytes=0,
    )


def run(model: str, *tasks: ProbeTaskResult) -> RunResult:
    return RunResult(
        suite=SuiteIdentity("small", "2", "Small suite", synthetic=True, manifest_sha256="0" * 64),
        model=ModelIdentity(model, "", "", "", DESCRIPTION, "0" * 64),
        environment={},
        seed=42,
        created_at="",
        tasks=(),
        failures=(),
        aggregates=(),
        probe_tasks=tasks,
    )


def test_levels_by_modality_and_model() -> None:
    one = run(
        "one",
        result("fundus.L1", 0.2, 0.1, 0.3),
        result("fundus.L2", 0.03, 0.01, 0.04),
        result("fundus.L3", -0.1, -0.2, -0.05, n=7),
        result("fundus.L4@odir5k", -0.01, -0.03, 0.01),
        result("fundus.L4.report", 0.9, 0.8, 1.0),
        result("fundus.L5.no_finding", 0.9, 0.8, 1.0),
    )
    two = run("two", result("fundus.L1", 0.06, 0.01, 0.1), result("vqa_rad.closed_questions", 0.5, 0.4, 0.6))
    assert markdown_table([one, two]) == BY_HAND
