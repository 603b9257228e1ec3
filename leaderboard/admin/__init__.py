"""Administration of what services do not own, and a read-only view of what they do."""

from leaderboard.admin import accounts, catalogue, embedding_models, runs, submissions, workers

__all__ = ["accounts", "catalogue", "embedding_models", "runs", "submissions", "workers"]
