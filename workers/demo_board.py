"""What a fresh board shows: synthetic suites, a local hub with small models, and a few of them evaluated.

Everything is made here and labelled as synthetic; the results come through the same queue and workers as anybody's.
"""

import logging
import threading
import urllib.error
import urllib.request
from pathlib import Path

from django.conf import settings

from evaluation.manifest import MANIFEST_NAME
from evaluation.suites.demo.suite import build_demo
from evaluation.suites.medtec.demo import SLUG as DEMO_PROBES
from evaluation.suites.medtec.demo import build_medtec_demo
from leaderboard.exceptions import DuplicateSubmission, SuiteInapplicable
from leaderboard.models import Priority, Run, Suite, User
from leaderboard.ports import model_hub
from leaderboard.services.submissions import submission_create
from workers.demo_hub import build_demo_hub

DEMO_SUITE = "medheb-demo"
DEMO_MODELS = ("demo/lite-dual", "demo/clip-tiny", "demo/minilm", "demo/chance")
DEMO_SUBMITTER = "demo"

_HUB_ATTEMPTS = 100
_HUB_PAUSE_SECONDS = 0.3

logger = logging.getLogger(__name__)


def demo_suite_folder() -> Path:
    """Where the synthetic retrieval suite lies."""
    return settings.SUITES_DIR / DEMO_SUITE


def demo_hub_root() -> Path:
    """The folder that the local hub serves."""
    return settings.DATA_DIR / "hub"


def prepare_demo() -> None:
    """Build the synthetic suites and the local hub's repositories where they are not there yet."""
    folder = demo_suite_folder()
    for target, build in ((folder, build_demo), (settings.SUITES_DIR / DEMO_PROBES, build_medtec_demo)):
        if not (target / MANIFEST_NAME).exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            build(target)
    build_demo_hub(demo_hub_root(), folder)


def submit_demo_models() -> None:
    """Submit the demo models to a board that has no runs yet, in the name of an account that nobody can sign in to.

    They stand behind whatever visitors submit in the meantime.
    """
    if Run.objects.exists() or not _hub_answers():
        return
    submitter, created = User.objects.get_or_create(username=DEMO_SUBMITTER)
    if created:
        submitter.set_unusable_password()
        submitter.save()
    suites = [Suite.objects.get(slug=slug, is_live=True) for slug in (DEMO_SUITE, DEMO_PROBES)]
    for repo_id in DEMO_MODELS:
        report = model_hub().preflight(repo_id=repo_id)
        if not report.passed:
            logger.warning("%s is not submitted: %s", repo_id, report.problems)
            continue
        for suite in suites:
            try:
                submission_create(submitter=submitter, report=report, suite=suite, priority=Priority.DEMONSTRATION)
            except (DuplicateSubmission, SuiteInapplicable) as error:
                logger.info("%s: %s", repo_id, error)


def _hub_answers() -> bool:
    """Wait a bounded time for the local hub, which starts beside this."""
    pause = threading.Event()
    for _ in range(_HUB_ATTEMPTS):
        try:
            with urllib.request.urlopen(settings.HUB_ENDPOINT, timeout=2):  # noqa: S310 - the operator's own address
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            pause.wait(_HUB_PAUSE_SECONDS)
    logger.warning("the hub at %s does not answer; no demo models are submitted", settings.HUB_ENDPOINT)
    return False
