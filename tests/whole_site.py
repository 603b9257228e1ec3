"""A site with something of everything, for tests that look at every page."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from evaluation.types import SuiteSpec
from evaluation.vocabulary import Domain, EvidenceForm, Family, Split
from leaderboard.models import (
    ApiToken,
    ChildLog,
    Delivery,
    NotificationSettings,
    OwnerClaim,
    Run,
    Submission,
    TaskRun,
    TrainingDataMark,
    User,
)
from leaderboard.models.vocabulary import ActKind, ApiScope, RunState, TaskRunState, TrainingVerdict
from leaderboard.services.acts import act_record
from leaderboard.services.administration import worker_report
from leaderboard.services.api_tokens import api_token_create
from tests.evaluation.suite_folders import suite_of, task_spec
from tests.factories import make_measured_run, make_revision, make_run, make_user
from tests.measured_suites import install, measured
from tests.probe_documents import NAMES, make_probing_suite, publish, store_board
from workers.snapshots import build_snapshot

SPEC: SuiteSpec = suite_of(
    task_spec("Label", family=Family.IMAGE_TO_LABEL, evidence_form=EvidenceForm.IMAGE_2D, domain=Domain.THORACIC),
    task_spec("Held", family=Family.IMAGE_TO_LABEL, split=Split.HELD_OUT, domain=Domain.ABDOMINAL),
    task_spec("Pair", family=Family.TEXT_TO_TEXT),
    task_spec("Region", family=Family.REGION_GROUNDING),
    task_spec("Bridge", family=Family.MODALITY_BRIDGING, evidence_form=EvidenceForm.VOLUME_3D),
)
MODELS = {
    "google/medsiglip-448": (0.4, 0.2, 0.8, 0.05, 0.01),
    "lab/strong": (0.9, 0.8, 0.8, 0.5, 0.3),
    "lab/a-model-with-a-name-that-is-rather-long-for-a-table": (0.5, 0.5, 0.5, 0.5, 0.5),
}


@dataclass(frozen=True, slots=True)
class WholeSite:
    """Runs in every state, and people: a stranger, the owner of `run`, and an administrator."""

    published: Run
    other: Run
    rerun: Run
    failed: Run
    run: Run
    waiting: Run
    probing: Run
    people: dict[str, User]
    token: ApiToken
    mark: TrainingDataMark


def make_whole_site(settings: object, folder: Path) -> WholeSite:
    """Write a suite into the folder, and everything else into the database."""
    people = {
        "stranger": make_user("stranger"),
        "owner": make_user("owner"),
        "staff": make_user("staff", is_staff=True),
    }
    suite = install(settings, folder, SPEC)
    runs = {
        name: make_measured_run(suite, measured(*shares, seed=seed, spec=SPEC), revision=make_revision(name))
        for seed, (name, shares) in enumerate(MODELS.items())
    }
    strong = runs["lab/strong"]
    rerun = make_measured_run(
        suite,
        measured(0.9, 0.7, 0.9, 0.5, 0.2, seed=9, spec=SPEC),
        revision=strong.revision,
        attempt=2,
        published=False,
    )
    Run.objects.filter(pk=rerun.pk).update(rerun_of=strong)
    TaskRun.objects.update(seconds_embedding=12.5, seconds_ranking=0.5, inputs_total=120, peak_memory_bytes=3 * 10**9)
    build_snapshot(suite.pk)
    probing = make_probing_suite()
    probing.tasks.filter(modality="fundus").update(datasets=["aptos2019", "APTOS-2019"])
    probed = {name: publish(probing, name) for name in NAMES}
    TrainingDataMark.objects.create(
        model=probed["lab/firm"].revision.model, dataset="APTOS-2019", verdict=TrainingVerdict.TRAINED,
        reason="Its paper says so.", marked_by=people["staff"],
    )  # fmt: skip
    store_board(probing, probed)
    running = make_run(suite=suite, user=people["owner"], state=RunState.RUNNING)
    running.submission = Submission.objects.create(
        revision=running.revision,
        suite=suite,
        submitter=people["owner"],
        training_data="listed",
        declared_training_data=["made_up"],
    )
    running.started_at = timezone.now() - timedelta(minutes=2)
    running.save()
    running.task_runs.filter(task__position=0).update(
        state=TaskRunState.CLAIMED, lease_owner="worker1@host", lease_expires_at=timezone.now() + timedelta(minutes=1),
        started_at=timezone.now(), inputs_done=30, inputs_total=120,
    )  # fmt: skip
    failed = make_run(suite=suite, user=people["owner"], state=RunState.FAILED)
    ChildLog.objects.create(run=failed, worker="worker1@host", text="loading\nmodel.safetensors is missing\n")
    waiting = make_run(suite=suite, user=people["stranger"])
    for name in ("worker1@host", "worker2@host"):
        worker_report(name=name, device="cpu", versions={"torch": "2.13", "sandbox": "unshare"})
    NotificationSettings.objects.create(
        user=people["owner"], webhook_url="https://example.org/hook", webhook_secret="not-a-secret-of-anybody"
    )
    Delivery.objects.create(
        run=failed, recipient=people["owner"], channel="email", outcome="failed", address="owner@example.org",
        content={}, next_attempt_at=timezone.now() - timedelta(hours=2), trouble="The server refused it.",
    )  # fmt: skip
    act_record(actor="staff", kind=ActKind.PUBLISH, subject=strong)
    act_record(actor="staff", kind=ActKind.WITHDRAW, subject=strong, reason="The weights were those of another model.")
    act_record(actor="staff", kind=ActKind.LIMITS, subject="owner", details={"after": {"per_day": 50}})
    OwnerClaim.objects.create(repo_id="lab/strong", claimant=people["owner"], token="t")
    token = api_token_create(user=people["owner"], name="laptop", scopes=[ApiScope.READ], days=30).token
    mark = TrainingDataMark.objects.create(
        model=strong.revision.model, dataset="made_up", verdict=TrainingVerdict.TRAINED, reason="Its card says so.",
        marked_by=people["staff"],
    )  # fmt: skip
    return WholeSite(
        strong, runs["google/medsiglip-448"], rerun, failed, running, waiting, probed[NAMES[0]], people, token, mark
    )
