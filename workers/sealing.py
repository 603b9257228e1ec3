"""The sandbox of this worker, as its settings say."""

import functools
import logging

from django.conf import settings

from workers.sandbox.choice import chosen_sandbox
from workers.sandbox.protocol import Sandbox

UNSEALED_WARNING = (
    "SANDBOX=none: what this worker evaluates is not sealed off. A submitted model has the network, the files and the"
    " rights of this worker."
)

logger = logging.getLogger(__name__)


@functools.cache
def worker_sandbox() -> Sandbox:
    """The sandbox of this process, tried once.

    Raises:
        SandboxUnavailable: the machine does not allow what the setting SANDBOX asks for.
    """
    sandbox = chosen_sandbox(settings.SANDBOX)
    if sandbox.is_sealed:
        logger.info("evaluations are sealed off by %s", sandbox.name)
    else:
        logger.warning("%s", UNSEALED_WARNING)
    return sandbox
