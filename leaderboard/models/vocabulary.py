"""Closed lists as Django choices. Their values equal those of the evaluation library; a test holds them together."""

from collections.abc import Mapping

from django.db import models
from django.db.models import Q


class SuiteKind(models.TextChoices):
    """What a suite's tasks measure: whether evidence is found, or whether descriptions are told apart."""

    RETRIEVAL = "retrieval", "Retrieval"
    PROBING = "probing", "Probing"


class TaskKind(models.TextChoices):
    """What a task measures. All but the first belong to probing suites; the last three are what cells are compared with."""

    RETRIEVAL = "retrieval", "Retrieval"
    CELL = "cell", "Probes of one level"
    CLOSED_QUESTIONS = "closed_questions", "Yes/no questions"
    CAPTION_RETRIEVAL = "caption_retrieval", "Image-caption retrieval"
    ZERO_SHOT = "zero_shot", "Zero-shot classification"


class Modality(models.TextChoices):
    """What kind of image a probe speaks of: the six of MedTEC, then ours."""

    CHEST_RADIOGRAPH = "chest_radiograph", "Chest radiograph"
    ABDOMINAL_CT = "abdominal_ct", "Abdominal CT"
    DERMOSCOPY = "dermoscopy", "Dermoscopy"
    FUNDUS = "fundus", "Fundus"
    HISTOPATHOLOGY = "histopathology", "Histopathology"
    BRAIN_MRI = "brain_mri", "Brain MRI"
    BREAST_ULTRASOUND = "breast_ultrasound", "Breast ultrasound"
    SKIN_PHOTOGRAPH = "skin_photograph", "Skin photograph"


OWN_MODALITIES = (Modality.BREAST_ULTRASOUND, Modality.SKIN_PHOTOGRAPH)
"""Not MedTEC's but ours: they have boards, and no figure over modalities includes them."""


class Level(models.TextChoices):
    """How specific the distinction is that a probe asks for, the coarsest first."""

    L1 = "L1", "Domain"
    L2 = "L2", "Modality"
    L3 = "L3", "Anatomy"
    L4 = "L4", "Finding"
    L5 = "L5", "Negation"


class PhrasingStyle(models.TextChoices):
    """How a probe's sentences are worded; the first is the main one."""

    TEMPLATE = "template", "Caption"
    REPORT = "report", "Report"
    ONTOLOGY = "ontology", "Ontology term"
    PARAPHRASE = "paraphrase", "Paraphrase"


class NegationSubtype(models.TextChoices):
    """Which kind of negation the false texts of an L5 probe are; the first is the main one."""

    MIXED = "mixed", "Ten constructions"
    DEFINITE = "definite", "Definite"
    HEDGED = "hedged", "Hedged"
    RULED_OUT = "ruled_out", "Ruled out"
    HISTORICAL = "historical", "Historical"


class AnchorSelection(models.TextChoices):
    """Which anchor images a cell takes."""

    ALL = "all", "All anchors"
    FINDING = "finding", "Anchors with a finding"
    NO_FINDING = "no_finding", "Anchors without a finding (polarity reversed)"


class CellClass(models.TextChoices):
    """What a Discrimination Score with its interval says of a model, the worst first."""

    COLLAPSE_CERTAIN = "collapse_certain", "collapse, certain"
    COLLAPSE = "collapse", "collapse"
    NEAR_CHANCE = "near_chance", "near chance"
    DISCRIMINATES = "discriminates", "discriminates"


class Family(models.TextChoices):
    """The eight retrieval families."""

    IMAGE_TO_LABEL = "image_to_label", "Image to label"
    IMAGE_TO_IMAGE = "image_to_image", "Image to image"
    TEXT_TO_IMAGE = "text_to_image", "Text to image"
    QUESTION_ANSWERING = "question_answering", "Question"
    IMAGE_TO_REPORT = "image_to_report", "Report"
    TEXT_TO_TEXT = "text_to_text", "Text to text"
    REGION_GROUNDING = "region_grounding", "Region"
    MODALITY_BRIDGING = "modality_bridging", "Bridging"


class Domain(models.TextChoices):
    """The eight anatomical domains."""

    ABDOMINAL = "abdominal", "Abdominal"
    DERMATOLOGY = "dermatology", "Dermatology"
    MICROSCOPY = "microscopy", "Microscopy"
    MULTI_ORGAN = "multi_organ", "Multi-organ"
    MUSCULOSKELETAL = "musculoskeletal", "Musculoskeletal"
    NEURO = "neuro", "Neuro"
    OPHTHALMOLOGY = "ophthalmology", "Ophthalmology"
    THORACIC = "thoracic", "Thoracic"


class EvidenceForm(models.TextChoices):
    """The richest evidence in a task."""

    IMAGE_2D = "image_2d", "2D image"
    VOLUME_3D = "volume_3d", "3D volume"
    TEXT = "text", "Text"


class PairingType(models.TextChoices):
    """Which kinds of evidence are paired."""

    IMAGE_IMAGE = "image_image", "Image–image"
    IMAGE_TEXT = "image_text", "Image–text"
    TEXT_TEXT = "text_text", "Text–text"
    MODALITY_BRIDGING = "modality_bridging", "Modality-bridging"


class Granularity(models.TextChoices):
    """What relevance is judged on."""

    GLOBAL_LABEL = "global_label", "Global label"
    QUESTION_CONDITIONED = "question_conditioned", "Question-conditioned"
    REGION_LEVEL = "region_level", "Region-level"


class Split(models.TextChoices):
    """Whether the task's source gave training data to the reference model."""

    IN_DISTRIBUTION = "in_distribution", "In-distribution"
    HELD_OUT = "held_out", "Held-out source"


class ReleaseGroup(models.TextChoices):
    """The groups over which the release's own report takes its means."""

    IMAGE_2D = "2d", "2D"
    VOLUME_3D = "3d", "3D"
    TEXT = "txt", "TXT"
    HELD_OUT = "ood", "OOD"
    ALL = "all", "ALL"
    ALL_WITH_HELD_OUT = "all_ood", "ALL+OOD"


_FORM_GROUPS = {
    EvidenceForm.IMAGE_2D: ReleaseGroup.IMAGE_2D,
    EvidenceForm.VOLUME_3D: ReleaseGroup.VOLUME_3D,
    EvidenceForm.TEXT: ReleaseGroup.TEXT,
}


def release_groups(*, evidence_form: str, split: str) -> tuple[ReleaseGroup, ...]:
    """The groups of the release's report that count a task: held-out tasks stand apart from the rest."""
    if split == Split.HELD_OUT:
        return (ReleaseGroup.HELD_OUT, ReleaseGroup.ALL_WITH_HELD_OUT)
    return (_FORM_GROUPS[EvidenceForm(evidence_form)], ReleaseGroup.ALL, ReleaseGroup.ALL_WITH_HELD_OUT)


class PoolScope(models.TextChoices):
    """Whose candidates a query ranks."""

    LOCAL = "local", "Local: each query has its own pool"
    GLOBAL = "global", "Global: one pool for the whole task"


class RunState(models.TextChoices):
    """Where a run stands."""

    QUEUED = "queued", "Queued"
    PREPARING = "preparing", "Preparing"
    RUNNING = "running", "Running"
    SCORING = "scoring", "Scoring"
    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class TaskRunState(models.TextChoices):
    """Where one task of a run stands."""

    PENDING = "pending", "Pending"
    CLAIMED = "claimed", "Running"
    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class ErrorKind(models.TextChoices):
    """Who has to act on a failure."""

    MODEL = "model", "Model"
    DATA = "data", "Data"
    INFRASTRUCTURE = "infrastructure", "Infrastructure"
    LIMIT = "limit", "Limit"


class Channel(models.TextChoices):
    """How a person is told."""

    EMAIL = "email", "E-mail"
    WEBHOOK = "webhook", "Webhook"


class RunOutcome(models.TextChoices):
    """What a person is told of a run."""

    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"


class DeliveryState(models.TextChoices):
    """Where a message to a person stands."""

    WAITING = "waiting", "Waiting"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Given up"


class ApiScope(models.TextChoices):
    """What an API token may be used for."""

    READ = "read", "Read what its owner can see"
    SUBMIT = "submit", "Submit models and cancel submissions"


class TrainingDataStatement(models.TextChoices):
    """What a submitter says of the data that a model was trained on."""

    UNKNOWN = "unknown", "I do not know"
    NONE = "none", "On none of these data sets"
    LISTED = "listed", "On the data sets ticked below"


class TrainingVerdict(models.TextChoices):
    """What an administrator found about a model and a data set."""

    TRAINED = "trained", "Trained on it"
    NOT_TRAINED = "not_trained", "Not trained on it"


class OwnerProof(models.TextChoices):
    """How somebody showed that a repository on the hub is theirs."""

    FILE = "file", "The line in medboard.txt"
    MODEL_CARD = "model_card", "The line in the model card"
    ACCOUNT = "account", "The account on the hub"
    ADMINISTRATOR = "administrator", "An administrator's word"


class ActKind(models.TextChoices):
    """What administrators do, and how the keys come and go with which programs act for people."""

    PUBLISH = "publish", "Published a result"
    WITHDRAW = "withdraw", "Took a result off the boards"
    RERUN = "rerun", "Queued a rerun"
    CANCEL = "cancel", "Cancelled a run"
    PAUSE = "pause", "Paused submissions"
    RESUME = "resume", "Took submissions again"
    PAUSE_CLASS = "pause_class", "Paused a class of workers"
    RESUME_CLASS = "resume_class", "Let a class of workers go on"
    LIMITS = "limits", "Set a person's limits"
    OPT_OUT = "opt_out", "Set an owner's wish"
    OWNER_CLAIM = "owner_claim", "Accepted an owner's claim"
    CONTAMINATION = "contamination", "Marked contamination"
    ACCOUNT = "account", "Changed an account"
    ROWS = "rows", "Changed rows in the administration"
    TOKEN_CREATE = "token_create", "Made an API token"
    TOKEN_USE = "token_use", "Used an API token for the first time"
    TOKEN_REVOKE = "token_revoke", "Revoked an API token"
    TOKEN_EXPIRE = "token_expire", "Saw an API token expire"


class AggregateScope(models.TextChoices):
    """What a mean over tasks covers."""

    OVERALL = "overall", "Overall"
    FAMILY = "family", "Family"
    DOMAIN = "domain", "Domain"
    EVIDENCE_FORM = "evidence_form", "Evidence form"
    PAIRING_TYPE = "pairing_type", "Pairing type"
    GRANULARITY = "granularity", "Granularity"
    SPLIT = "split", "Split"
    RELEASE_GROUP = "release_group", "Group of the release"


CHOICES_OF: Mapping[AggregateScope, type[models.TextChoices]] = {
    AggregateScope.FAMILY: Family,
    AggregateScope.DOMAIN: Domain,
    AggregateScope.SPLIT: Split,
    AggregateScope.EVIDENCE_FORM: EvidenceForm,
    AggregateScope.PAIRING_TYPE: PairingType,
    AggregateScope.GRANULARITY: Granularity,
    AggregateScope.RELEASE_GROUP: ReleaseGroup,
}
"""The groups of each axis, in the order in which pages show the axes."""


class ProbeBoardScope(models.TextChoices):
    """What a board of a probing suite covers."""

    OVERVIEW = "overview", "Overview"
    MODALITY = "modality", "Modality"
    LEVEL = "level", "Level"


class WorkerClass(models.TextChoices):
    """What a worker can hold, the smallest first: a CPU, or a GPU with at least so many GiB of memory.

    A worker takes runs of its own class and of every class before it. A GPU comes after the CPU although it may have
    less memory: models are held in half precision there.
    """

    CPU = "cpu", "CPU"
    GPU_16 = "gpu-16", "GPU, 16 GiB"
    GPU_24 = "gpu-24", "GPU, 24 GiB"
    GPU_48 = "gpu-48", "GPU, 48 GiB"
    GPU_80 = "gpu-80", "GPU, 80 GiB"
    GPU_141 = "gpu-141", "GPU, 141 GiB"

    @property
    def gpu_gib(self) -> int:
        """GiB of GPU memory that the class promises; 0 for the CPU, whose memory is a setting."""
        return 0 if self is WorkerClass.CPU else int(self.value.removeprefix("gpu-"))


def classes_within(worker_class: str) -> list[str]:
    """The classes of runs that a worker of this class can hold."""
    return WorkerClass.values[: WorkerClass.values.index(worker_class) + 1]


def classes_above(worker_class: str) -> list[str]:
    """The classes that hold more than this one, the smallest first."""
    return WorkerClass.values[WorkerClass.values.index(worker_class) + 1 :]


ACTIVE_RUN_STATES = (RunState.QUEUED, RunState.PREPARING, RunState.RUNNING, RunState.SCORING)
FINAL_RUN_STATES = (RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED)
OPEN_TASK_STATES = (TaskRunState.PENDING, TaskRunState.CLAIMED)
ENDED_TASK_STATES = (TaskRunState.SUCCEEDED, TaskRunState.FAILED, TaskRunState.CANCELLED)

HEX_40 = r"^[0-9a-f]{40}$"
HEX_64 = r"^[0-9a-f]{64}$"


def one_of(field: str, choices: type[models.TextChoices], *, name: str, blank: bool = False) -> models.CheckConstraint:
    """A CHECK that a column holds one of the choices (or, with `blank`, the empty string)."""
    values = [*choices.values, ""] if blank else list(choices.values)
    return models.CheckConstraint(condition=Q(**{f"{field}__in": values}), name=name)


def matches(field: str, pattern: str, *, name: str, blank: bool = False) -> models.CheckConstraint:
    """A CHECK that a column matches a pattern (or, with `blank`, is the empty string)."""
    condition = Q(**{f"{field}__regex": pattern})
    return models.CheckConstraint(condition=condition | Q(**{field: ""}) if blank else condition, name=name)
