"""The data model. Constraints in the database carry the rules; services make every change."""

from leaderboard.models.accounts import User
from leaderboard.models.catalogue import Suite, Task
from leaderboard.models.comparisons import RunComparison
from leaderboard.models.embedding_models import EmbeddingModel, ModelRevision
from leaderboard.models.examples import TaskExample
from leaderboard.models.gallery import Gallery, GalleryItem, GalleryKind
from leaderboard.models.logs import ChildLog
from leaderboard.models.notifications import Delivery, NotificationSettings
from leaderboard.models.runs import Priority, Run, RunEvent, TaskRun, Worker
from leaderboard.models.scores import AggregateScore, Score
from leaderboard.models.snapshots import BoardSnapshot
from leaderboard.models.submissions import Submission, SubmissionPause

__all__ = [
    "AggregateScore",
    "BoardSnapshot",
    "ChildLog",
    "Delivery",
    "EmbeddingModel",
    "Gallery",
    "GalleryItem",
    "GalleryKind",
    "ModelRevision",
    "NotificationSettings",
    "Priority",
    "Run",
    "RunComparison",
    "RunEvent",
    "Score",
    "Submission",
    "SubmissionPause",
    "Suite",
    "Task",
    "TaskExample",
    "TaskRun",
    "User",
    "Worker",
]
