"""Reads the files that a task of the probing suite names and makes the task of them."""

from pathlib import Path

from evaluation.hashing import FileHashes
from evaluation.probe_tasks import CaptionTask, CellTask, LabelTask, ProbeTask, QuestionTask
from evaluation.probe_types import AnchorSet, ProbeTaskSpec
from evaluation.suites.medtec.anchors.manifest import read_anchor_set
from evaluation.suites.medtec.cell_tasks import cell_task
from evaluation.suites.medtec.input_numbers import InputNumbers
from evaluation.suites.medtec.probe_reading import probe_set_for, read_probe_sets
from evaluation.suites.medtec.protocol_tasks import StatementPair, caption_task, label_task, question_task
from evaluation.suites.medtec.protocols import read_captions, read_label_matrix
from evaluation.suites.medtec.questions import read_questions
from evaluation.vocabulary import ProbeTaskKind

_YES = "yes"


class ProbeLoader:
    """Loads the tasks of one suite; anchor manifests and files are read once in its life, which is one run."""

    def __init__(self, folder: Path, hashes: FileHashes) -> None:
        self._folder = folder
        self._hashes = hashes
        self._anchor_sets: dict[str, AnchorSet] = {}

    def load(self, spec: ProbeTaskSpec, *, takes_volumes: bool) -> ProbeTask:
        """Read and check everything that a task compares, and hash everything that will be embedded.

        Args:
            spec: one of the suite's tasks.
            takes_volumes: whether the model sees a volume as one; else it is given the slice that the manifest names.

        Raises:
            DataMissing: a file or an image is not installed.
            SuiteInvalid: a file breaks its format, the probes are no longer those of the task, or an image was changed.
            InputUnreadable: an image cannot be read.
        """
        numbers = InputNumbers(self._hashes)
        match spec.kind:
            case ProbeTaskKind.CELL:
                return self._cell(spec, numbers, takes_volumes=takes_volumes)
            case ProbeTaskKind.CLOSED_QUESTIONS:
                return _questions(self._folder, spec, numbers)
            case ProbeTaskKind.RETRIEVAL:
                return _captions(self._folder, spec, numbers)
            case ProbeTaskKind.ZERO_SHOT:
                return _labels(self._folder, spec, numbers)

    def _cell(self, spec: ProbeTaskSpec, numbers: InputNumbers, *, takes_volumes: bool) -> CellTask:
        probe_set = probe_set_for(spec)
        if spec.data_path not in self._anchor_sets:
            path = self._folder / spec.data_path
            self._anchor_sets[spec.data_path] = read_anchor_set(path, hashes=self._hashes)
        return cell_task(
            self._folder,
            spec,
            anchor_set=self._anchor_sets[spec.data_path],
            probe_set=probe_set,
            modality_sets=read_probe_sets(probe_set.modality),
            takes_volumes=takes_volumes,
            numbers=numbers,
        )


def probe_task_is_installed(folder: Path, spec: ProbeTaskSpec) -> bool:
    """Whether the file that a task names is there; what it says is not read."""
    return (folder / spec.data_path).is_file()


def _questions(folder: Path, spec: ProbeTaskSpec, numbers: InputNumbers) -> QuestionTask:
    """`record` of a pair is its number among the questions that have statements."""
    found = read_questions(folder / spec.data_path)
    pairs = [
        StatementPair(number, question.path, question.answer == _YES, question.affirmative, question.negative)
        for number, question in enumerate(found.questions)
    ]
    return question_task(folder, spec, pairs=pairs, n_without_rule=len(found.without_rule), numbers=numbers)


def _captions(folder: Path, spec: ProbeTaskSpec, numbers: InputNumbers) -> CaptionTask:
    found = read_captions(folder / spec.data_path)
    return caption_task(
        folder, spec, paths=found.paths, captions=found.captions, clusters=found.clusters, numbers=numbers
    )


def _labels(folder: Path, spec: ProbeTaskSpec, numbers: InputNumbers) -> LabelTask:
    """Prompts are the labels with spaces for underscores."""
    found = read_label_matrix(folder / spec.data_path)
    return label_task(
        folder,
        spec,
        paths=found.paths,
        clusters=found.clusters,
        labels=found.labels,
        names=[label.replace("_", " ") for label in found.labels],
        truth=found.present,
        numbers=numbers,
    )
