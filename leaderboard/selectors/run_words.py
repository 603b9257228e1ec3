"""What a run's state and a failure's kind mean to a person, in a sentence each."""

from leaderboard.models.vocabulary import ErrorKind, RunState

STATE_SENTENCES: dict[str, str] = {
    RunState.QUEUED: "Waiting for a free worker.",
    RunState.PREPARING: "A worker is downloading the model and checking its files.",
    RunState.RUNNING: "The model is being evaluated, task by task.",
    RunState.SCORING: "Every task has ended; means and intervals are being computed.",
    RunState.SUCCEEDED: "The evaluation has finished.",
    RunState.FAILED: "The evaluation ended without a result.",
    RunState.CANCELLED: "The evaluation was cancelled.",
}

NEXT_STEPS: dict[str, str] = {
    ErrorKind.MODEL: (
        "The repository itself has to change: correct it on the hub and submit the new revision."
        " The same revision would fail in the same way."
    ),
    ErrorKind.DATA: (
        "The board's own data are at fault, not the model. An administrator has to repair the suite and rerun;"
        " there is nothing for the submitter to do."
    ),
    ErrorKind.INFRASTRUCTURE: (
        "A machine of the board failed, not the model, and trying again did not help. It does not count towards the"
        " limits of submissions: submit the same revision again, or ask an administrator to rerun this attempt."
    ),
    ErrorKind.LIMIT: (
        "The model needs more memory or time than the workers give. Submit a smaller variant, or ask an administrator"
        " to rerun it on a larger worker."
    ),
}


def next_step(error_kind: str) -> str:
    """What to do after a failure of this kind; empty for no failure."""
    return NEXT_STEPS.get(error_kind, "")
