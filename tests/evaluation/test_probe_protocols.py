"""Closed questions, captions and labels against hand computation, brute force and scikit-learn."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from evaluation.embedding.encode import embed_inputs
from evaluation.errors import SuiteInvalid
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.probe import evaluate_probe_task
from evaluation.hashing import FileHashes
from evaluation.metrics.classification import area_under_curve, correctness
from evaluation.suites.medtec.input_numbers import InputNumbers
from evaluation.suites.medtec.protocol_tasks import StatementPair, caption_task, label_task, question_task
from evaluation.vocabulary import ProbeTaskKind
from tests.evaluation.probing import full_metric, metric, spec, with_cosines, write_images

QUESTIONS = spec("vqa_rad.closed_questions", ProbeTaskKind.CLOSED_QUESTIONS, modality=None)
CAPTIONS = spec("chest_radiograph.retrieval", ProbeTaskKind.RETRIEVAL)
LABELS = spec("chest_radiograph.zero_shot", ProbeTaskKind.ZERO_SHOT)


def evaluated(task, embedder):
    return evaluate_probe_task(task, embed_inputs(embedder, task.inputs, batch_size=64), cost=EmbeddingCost())


def pair(record, path, answer, subject):
    return StatementPair(record, path, answer, f"there is {subject}", f"there is no {subject}")


def questions(folder, pairs, n_without_rule=0):
    return question_task(
        folder, QUESTIONS, pairs=pairs, n_without_rule=n_without_rule, numbers=InputNumbers(FileHashes())
    )


def test_closed_questions_on_paper(tmp_path):
    first, second, third = write_images(tmp_path, 3)
    pairs = [
        pair(0, first, True, "edema"),  # .3 against .1: yes, right
        pair(2, first, False, "air"),  # .2 against .2: a tie, half right
        pair(3, second, False, "edema"),  # .4 against .0: yes, wrong
        pair(5, third, True, "air"),  # .1 against .3: no, wrong
        pair(6, third, True, "edema"),  # .5 against .2: yes, right
    ]
    table = {
        "there is edema": [0.3, 0.4, 0.5],
        "there is no edema": [0.1, 0.0, 0.2],
        "there is air": [0.2, 0.0, 0.1],
        "there is no air": [0.2, 0.0, 0.3],
    }
    result = evaluated(questions(tmp_path, pairs, n_without_rule=4), with_cosines(table))
    assert metric(result, "balanced_accuracy") == pytest.approx((2 / 3 + 1 / 4) / 2)
    assert metric(result, "yes_rate") == pytest.approx(3.5 / 5)
    assert result.chance == 0.5
    assert result.counts == {"questions": 5, "yes": 3, "no": 2, "ties": 1, "without_rule": 4, "clusters": 3}
    assert result.arrays["margins"] == pytest.approx([0.2, 0.0, 0.4, -0.2, 0.3], abs=1e-6)
    assert result.arrays["records"].tolist() == [0, 2, 3, 5, 6]
    assert result.arrays["images"].tolist() == [0, 0, 1, 2, 2]
    found = full_metric(result, "yes_rate")
    assert found.lower <= found.value <= found.upper


def test_a_model_without_margins_is_at_chance(tmp_path):
    (image,) = write_images(tmp_path, 1)
    pairs = [pair(0, image, True, "edema"), pair(1, image, False, "air")]
    table = {text: [0.25] for one in pairs for text in (one.affirmative, one.negative)}
    result = evaluated(questions(tmp_path, pairs), with_cosines(table))
    assert (metric(result, "balanced_accuracy"), metric(result, "yes_rate"), result.counts["ties"]) == (0.5, 0.5, 2)


@given(st.lists(st.tuples(st.sampled_from([-1.0, 1.0]), st.booleans()), min_size=2, max_size=30))
def test_balanced_accuracy_is_that_of_scikit_learn(rows):
    margins, answers = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    if answers.all() or not answers.any():
        return
    correct = correctness(margins, answers)
    ours = (correct[answers].mean() + correct[~answers].mean()) / 2
    assert ours == pytest.approx(balanced_accuracy_score(answers, margins > 0))


def test_questions_that_cannot_be_scored(tmp_path):
    (image,) = write_images(tmp_path, 1)
    with pytest.raises(SuiteInvalid, match="no question has statements"):
        questions(tmp_path, [])
    with pytest.raises(SuiteInvalid, match="question 7 has one statement"):
        questions(tmp_path, [StatementPair(7, image, True, "same", "same")])
    only_yes = questions(tmp_path, [pair(0, image, True, "air")])
    with pytest.raises(SuiteInvalid, match="all questions have one answer"):
        evaluated(only_yes, with_cosines({"there is air": [0.1], "there is no air": [0.2]}))


def captions(folder, paths, texts, clusters=None):
    return caption_task(
        folder,
        CAPTIONS,
        paths=paths,
        captions=texts,
        clusters=clusters or [f"patient {number}" for number in range(len(paths))],
        numbers=InputNumbers(FileHashes()),
    )


def test_captions_on_paper(tmp_path):
    """Four images, three captions: the second and third image share one, whatever their spaces."""
    paths = write_images(tmp_path, 4)
    task = captions(tmp_path, paths, ["edema", "normal", "normal\n", "fracture"])
    assert task.pairs == ((0, 0), (1, 1), (2, 1), (3, 2))
    table = {
        "edema": [0.5, 0.0, 0.3, 0.0],
        "normal": [0.1, 0.4, 0.2, 0.2],
        "fracture": [0.2, 0.0, 0.2, 0.1],
    }
    result = evaluated(task, with_cosines(table))
    # ranks of the golds among three captions: 1, 1, 2 or 3 (tied with fracture behind edema), 2
    assert metric(result, "image_to_text_recall@1") == pytest.approx((1 + 1 + 0 + 0) / 4)
    assert metric(result, "image_to_text_recall@5") == 1
    assert metric(result, "image_to_text_precision@5") == pytest.approx(1 / 5)
    # edema finds the first image; normal has two golds, of which the first place holds one; fracture's is third
    assert metric(result, "text_to_image_recall@1") == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert metric(result, "text_to_image_precision@1") == pytest.approx((1 + 1 + 0) / 3)
    assert metric(result, "text_to_image_precision@5") == pytest.approx((1 + 2 + 1) / 3 / 5)
    assert result.chance == pytest.approx(1 / 3)
    assert result.counts == {"images": 4, "captions": 3, "pairs": 4, "shared_captions": 1, "clusters": 4}
    above, tied = result.arrays["image_to_text"][2:]
    assert above.tolist() == [0, 0, 1, 1]
    assert tied.tolist() == [0, 0, 1, 0]


def brute_recall(similarities, golds, k):
    """Mean over all orders of candidates that keep falling similarities."""
    found = [
        len(set(order[:k]) & golds) / len(golds)
        for order in permutations(range(len(similarities)))
        if all(similarities[one] >= similarities[other] for one, other in pairwise(order))
    ]
    return np.mean(found)


@settings(max_examples=25)
@given(data=st.data())
def test_recall_is_the_mean_over_all_orders_of_ties(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("captions")
    paths = write_images(folder, 5)
    texts = data.draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=5, max_size=5))
    if len(set(texts)) < 2:
        return
    level = st.sampled_from([0.0, 0.125, 0.25])  # exact in float32, so that ties stay ties
    table = {text: data.draw(st.lists(level, min_size=5, max_size=5)) for text in dict.fromkeys(texts)}
    result = evaluated(captions(folder, paths, texts), with_cosines(table))
    order = list(dict.fromkeys(texts))
    backward = [brute_recall(table[text], {n for n in range(5) if texts[n] == text}, 1) for text in order]
    assert metric(result, "text_to_image_recall@1") == pytest.approx(np.mean(backward))
    columns = [[table[text][number] for text in order] for number in range(5)]
    forward = [brute_recall(column, {order.index(texts[number])}, 1) for number, column in enumerate(columns)]
    assert metric(result, "image_to_text_recall@1") == pytest.approx(np.mean(forward))


def test_captions_that_cannot_be_ranked(tmp_path):
    paths = write_images(tmp_path, 2)
    with pytest.raises(SuiteInvalid, match="2 images and 1 captions"):
        captions(tmp_path, paths, ["normal", "normal"])
    with pytest.raises(SuiteInvalid, match="an image of two and of one"):
        captions(tmp_path, [paths[0], paths[0]], ["a", "b"], clusters=["one", "two"])


def labels(folder, count, truth, clusters=None):
    return label_task(
        folder,
        LABELS,
        paths=write_images(folder, count),
        clusters=clusters or [f"patient {number}" for number in range(count)],
        labels=["pleural_effusion", "edema"],
        names=["pleural effusion", "edema"],
        truth=np.array(truth, dtype=bool),
        numbers=InputNumbers(FileHashes()),
    )


def test_labels_against_scikit_learn(tmp_path):
    generator = np.random.default_rng(3)
    truth = generator.random((40, 2)) < 0.4
    prompts = ["pleural effusion", "edema", "no pleural effusion", "no edema"]
    # exact in float32 and few, so that there are ties
    table = {prompt: (generator.integers(0, 4, 40) / 32).tolist() for prompt in prompts}
    clusters = [f"patient {number // 2}" for number in range(40)]
    result = evaluated(labels(tmp_path, 40, truth, clusters), with_cosines(table))
    expected = []
    for column, name in enumerate(prompts[:2]):
        logits = np.stack([table[name], table[f"no {name}"]])
        probability = np.exp(logits[0] * 100) / np.exp(logits * 100).sum(axis=0)
        expected.append(roc_auc_score(truth[:, column], probability.round(9)))  # equal differences stay ties
    assert metric(result, "auroc_pleural_effusion") == pytest.approx(expected[0])
    assert metric(result, "auroc_edema") == pytest.approx(expected[1])
    assert metric(result, "auroc") == pytest.approx(np.mean(expected))
    found = full_metric(result, "auroc")
    assert found.lower < found.value < found.upper
    assert result.counts == {"images": 40, "labels": 2, "labels_left_out": 0, "clusters": 20}


def test_a_label_with_one_class_is_left_out_and_counted(tmp_path):
    table = {"pleural effusion": [0.3, 0.1], "no pleural effusion": [0.0, 0.0], "edema": [0.1, 0.1], "no edema": [0, 0]}
    result = evaluated(labels(tmp_path, 2, [[1, 1], [0, 1]]), with_cosines(table))
    assert metric(result, "auroc") == metric(result, "auroc_pleural_effusion") == 1
    assert result.counts["labels_left_out"] == 1
    # half of the resamples of two images lack a class, which is too many for an interval
    assert full_metric(result, "auroc").lower is None
    assert "lack a class" in result.warnings[0]
    with pytest.raises(SuiteInvalid, match="no label is present in some images"):
        evaluated(labels(tmp_path, 2, [[1, 0], [1, 0]]), with_cosines(table))


@given(data=st.data())
def test_weighted_area_is_that_of_scikit_learn(data):
    n = data.draw(st.integers(2, 15))
    scores = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), dtype=float)
    truth = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=float)
    found = area_under_curve(scores, truth, weights[np.newaxis])[0]
    if weights[truth].sum() == 0 or weights[~truth].sum() == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(roc_auc_score(truth, scores, sample_weight=weights))


def test_labels_of_one_name_are_refused(tmp_path):
    with pytest.raises(SuiteInvalid, match="two labels have one name"):
        label_task(
            tmp_path,
            LABELS,
            paths=write_images(tmp_path, 1),
            clusters=["a"],
            labels=["mass", "tumour"],
            names=["mass", "mass"],
            truth=np.zeros((1, 2), dtype=bool),
            numbers=InputNumbers(FileHashes()),
        )
