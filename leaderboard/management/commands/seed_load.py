"""`manage.py seed_load`: a board of invented models, to measure pages with."""

import numpy as np
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from leaderboard.management.seeding.models import draw_models
from leaderboard.management.seeding.probing import seed_probing
from leaderboard.management.seeding.retrieval import seed_retrieval
from leaderboard.models import EmbeddingModel


class Command(BaseCommand):
    """Fills an empty database with invented results on two invented suites, all marked as synthetic."""

    help = "Fill an empty database with invented models and results, to measure pages with."

    def add_arguments(self, parser: CommandParser) -> None:
        """How many models, and from which seed."""
        parser.add_argument("--models", type=int, default=1000)
        parser.add_argument("--seed", type=int, default=0)

    @transaction.atomic
    def handle(self, *args: str, **options: int) -> None:
        """Store models, runs, scores and boards; the same seed gives the same numbers.

        Raises:
            CommandError: the database holds a model already.
        """
        if options["models"] < 1:
            raise CommandError("--models has to be at least 1.")
        if EmbeddingModel.objects.exists():
            raise CommandError("This database holds models already. Invented ones belong into an empty database.")
        random = np.random.default_rng(options["seed"])
        models = draw_models(options["models"], random=random)
        for seed in (seed_retrieval, seed_probing):
            suite = seed(models, random=random)
            self.stdout.write(f"{suite.title}: {options['models']} invented models on {suite.tasks.count()} tasks")
