"""Closed questions: a model answers yes where the image is closer to the affirmative statement than to its negation.

Metrics: `balanced_accuracy` (mean of the accuracies on questions answered yes and no; a tie counts half) and `yes_rate`
(share of questions that the model answers with yes, a tie counting half), with intervals over images. Arrays, one entry
a question: `margins` (cosine with the affirmative minus cosine with the negation), `answers` (1 for yes), `records`
(number in the question file) and `images` (equal numbers for questions about one image).
"""

import numpy as np

from evaluation.errors import SuiteInvalid
from evaluation.evaluators.probe_scores import ProbeScores, empty_resamples_warning, metric_value, whole_numbers
from evaluation.evaluators.similarity import pair_similarities
from evaluation.metrics.classification import correctness, half_credit
from evaluation.probe_tasks import QuestionTask
from evaluation.statistics.clusters import cluster_numbers, cluster_replicates
from evaluation.types import FloatMatrix

CHANCE = 0.5


def score_questions(task: QuestionTask, vectors: FloatMatrix) -> ProbeScores:
    """Score all questions; `vectors` are unit float32 rows, one for each of the task's inputs.

    Raises:
        SuiteInvalid: no question is answered yes, or none no.
    """
    images = vectors[list(task.images)]
    margins = pair_similarities(images, vectors[list(task.affirmatives)]).astype(np.float64)
    margins -= pair_similarities(images, vectors[list(task.negatives)])
    answers = np.array(task.answers)
    if answers.all() or not answers.any():
        raise SuiteInvalid(f"{task.spec.name}: all questions have one answer; balanced accuracy needs both.")
    correct = correctness(margins, answers)
    numbers, n_clusters = cluster_numbers(task.clusters)
    replicates = cluster_replicates(
        np.stack([correct, correct, half_credit(margins)]),
        clusters=task.clusters,
        stratum=task.spec.dataset,
        used=np.stack([answers, ~answers, np.ones_like(answers)]),
    )
    on_yes, on_no, yes_rate = replicates
    return ProbeScores(
        metrics=(
            metric_value("balanced_accuracy", (on_yes + on_no) / 2, n_clusters=n_clusters),
            metric_value("yes_rate", yes_rate, n_clusters=n_clusters),
        ),
        chance=CHANCE,
        counts={
            "questions": len(answers),
            "yes": int(answers.sum()),
            "no": int((~answers).sum()),
            "ties": int((margins == 0).sum()),
            "without_rule": task.n_without_rule,
            "clusters": n_clusters,
        },
        arrays={
            "margins": margins.astype(np.float32),
            "answers": answers.astype(np.float32),
            "records": whole_numbers(task.records),
            "images": numbers.astype(np.float32),
        },
        warnings=empty_resamples_warning(replicates),
    )
