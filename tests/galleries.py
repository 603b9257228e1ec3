"""Galleries of generated vectors."""

from collections.abc import Sequence

import numpy as np
from django.db import connection, transaction

from evaluation.types import FloatMatrix
from leaderboard.models import Gallery
from leaderboard.services.gallery import NewItem, gallery_items_store, gallery_open, gallery_publish

DOMAINS = ("abdominal", "neuro", "thoracic", "microscopy")


def generated_vectors(n: int, dimension: int, *, seed: int) -> FloatMatrix:
    """Unit vectors around some hundreds of centres, as evidence lies around findings; shape (n, dimension)."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(2, n // 40), dimension))
    rows = centres[rng.integers(len(centres), size=n)] + 0.5 * rng.standard_normal((n, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def new_item(number: int, embedding: Sequence[float], **facts) -> NewItem:
    defaults = {
        "key": f"{number:064x}",
        "kind": "text" if number % 2 else "image",
        "task": "task",
        "family": "image_to_label",
        "domain": DOMAINS[number % len(DOMAINS)],
        "label": f"label {number}",
        "caption": "",
        "source": "Generated",
        "licence": "none",
        "images": () if number % 2 else (f"{number}.png",),
        "picture": None,
        "whole": None,
        "box": None,
    }
    return NewItem(**{**defaults, **facts}, embedding=embedding)


def fill_gallery(vectors: FloatMatrix, *, slug: str = "generated", model_key: str = "m" * 64) -> Gallery:
    """A published gallery whose item number i has vector i; its label says the number."""
    items = [new_item(number, row.tolist()) for number, row in enumerate(vectors)]
    gallery, missing = gallery_open(
        suite_slug=slug,
        suite_version="1",
        title="Generated",
        synthetic=True,
        model_key=model_key,
        model_name="generated",
        dimension=vectors.shape[1],
        wanted=[item.key for item in items],
    )
    gallery_items_store(gallery=gallery, items=[item for item in items if item.key in missing])
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a test is one transaction; else they wait for its end
        gallery_publish(gallery=gallery)
    return gallery
