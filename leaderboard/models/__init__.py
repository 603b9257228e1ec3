"""The data model. Constraints in the database carry the rules; services make every change."""

from leaderboard.models.accounts import User
from leaderboard.models.acts import Act
from leaderboard.models.api_tokens import ApiToken
from leaderboard.models.catalogue import Suite, Task
from leaderboard.models.comparisons import RunComparison
from leaderboard.models.embedding_models import EmbeddingModel, ModelRevision
from leaderboard.models.examples import TaskExample
from leaderboard.models.gallery import Gallery, GalleryItem, GalleryKind
from leaderboard.models.logs import ChildLog
from leaderboard.models.notifications import Delivery, NotificationSettings
from leaderboard.models.ownership import OwnerClaim
from leaderboard.models.runs import Priority, Run, RunEvent, TaskRun, Worker
from leaderboard.models.scores import AggregateScore, Score
from leaderboard.models.snapshots import BoardChange, BoardSnapshot, BoardTable
from leaderboard.models.submissions import Submission, SubmissionPause, WorkerClassPause
from leaderboard.models.training_data import TrainingDataMark

__all__ = [
    "Act",
    "AggregateScore",
    "ApiToken",
    "BoardChange",
    "BoardSnapshot",
    "BoardTable",
    "ChildLog",
    "Delivery",
    "EmbeddingModel",
    "Gallery",
    "GalleryItem",
    "GalleryKind",
    "ModelRevision",
    "NotificationSettings",
    "OwnerClaim",
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
    "TrainingDataMark",
    "User",
    "Worker",
    "WorkerClassPause",
]
