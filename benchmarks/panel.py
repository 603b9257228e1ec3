"""How long a visitor of the demo panel waits for an answer, over 10,000 items, and what the index misses.

    python benchmarks/panel.py --model FOLDER [--write]

A real interactive worker with the model, a real broker and database, and the function that the panel's page calls: from
a query to the results as HTML. The gallery's vectors are generated around centres, because what they show does not change
the time; its pictures are as large as real ones. With `--write` the figures go to benchmarks/RESULTS.md.
"""

# ruff: noqa: PLC0415 - what needs Django can only be imported once the servers' addresses are known

import argparse
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.reporting import machine, markdown_table
from benchmarks.sections import write_section

if TYPE_CHECKING:
    from workers.demo.searching import Search

N_ITEMS = 10_000
N_QUERIES = 20
SECONDS_TO_START = 120
TITLE = "Answers of the demo panel"
TEXTS = ("chest radiograph with pleural effusion", "melanoma", "axial CT of a liver cyst", "fundus with haemorrhages")


@contextmanager
def servers() -> Iterator[None]:
    """A database and a broker in a temporary folder, with Django set up on them."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"MEDBOARD_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings"}
        for name in ("DATABASE_URL", "REDIS_URL", "PANEL_BROKER_URL"):
            os.environ.pop(name, None)
        from leaderboard.config import embedded

        started = embedded.start()
        try:
            embedded.start_panel_broker(started)
            import django
            from django.core.management import call_command

            django.setup()
            call_command("migrate", verbosity=0)
            yield
        finally:
            started.stop()


@contextmanager
def worker(model: str) -> Iterator[None]:
    """An interactive worker with a model."""
    import redis

    from workers.demo.presence import worker_state

    environment = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", "celery", "-A", "workers.demo.celery", "worker", "--concurrency", "1"]
    process = subprocess.Popen([*command, "--loglevel", "error"], env={**environment, "PANEL_MODEL": model})
    client = redis.Redis.from_url(os.environ["PANEL_BROKER_URL"])
    try:
        deadline = time.monotonic() + SECONDS_TO_START
        while (state := worker_state(client)) is None or not state.ready:
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError("the interactive worker did not start")
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait()


def noise(side: int, seed: int, kind: str) -> bytes:
    """A picture of smooth noise."""
    small = np.random.default_rng(seed).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(small).resize((side, side)).save(stream, kind)
    return stream.getvalue()


def fill(model_key: str, dimension: int) -> np.ndarray:
    """A published gallery, and its vectors."""
    from leaderboard.services.gallery import gallery_items_store, gallery_open, gallery_publish
    from tests.galleries import generated_vectors, new_item

    vectors = generated_vectors(N_ITEMS, dimension, seed=5)
    picture = noise(192, 0, "JPEG")
    items = [new_item(number, row.tolist(), picture=picture) for number, row in enumerate(vectors)]
    gallery, _ = gallery_open(
        suite_slug="generated",
        suite_version="1",
        title="Generated",
        synthetic=True,
        model_key=model_key,
        model_name="generated",
        dimension=dimension,
        wanted=[item.key for item in items],
    )
    for start in range(0, N_ITEMS, 1000):
        gallery_items_store(gallery=gallery, items=items[start : start + 1000])
    gallery_publish(gallery=gallery)
    return vectors


def recall(vectors: np.ndarray, model_key: str) -> float:
    """The share of the ten nearest that the index finds, over queries near items and equal to none."""
    from leaderboard.selectors.gallery import gallery_search, live_galleries

    galleries = live_galleries(model_key=model_key)
    found = 0
    for query in vectors[:200] + np.float32(0.02):
        exact = set(np.argsort(-(vectors @ query))[:10].tolist())
        hits = gallery_search(galleries=galleries, vector=query.tolist(), count=10)
        found += len(exact & {int(hit.label.removeprefix("label ")) for hit in hits})
    return found / 2000


def timed(search: "Search", folder: Path, *, text: bool, images: int, pause: float = 1.0) -> list[float]:
    """Seconds of each query, after two to warm up, with a pause before each."""
    from workers.demo.searching import Request
    from workers.demo.words import results_html

    seconds = []
    for number in range(N_QUERIES + 2):
        paths = []
        for one in range(images):
            path = folder / f"{number}-{one}.png"
            path.write_bytes(noise(256, 100 * number + one, "PNG"))
            paths.append(path)
        request = Request(
            text=f"{TEXTS[number % len(TEXTS)]} {number}" if text else "",
            instruction="",
            files=tuple(paths),
            kinds=("image",),
            galleries=(),
            domains=(),
            address=f"visitor {number} {text} {images} {pause}",
        )
        time.sleep(pause)
        started = time.perf_counter()
        if not results_html(search.results(request)):
            raise RuntimeError("nothing was found")
        seconds.append(time.perf_counter() - started)
    return seconds[2:]


def main() -> None:
    """Measure, print, and with --write keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a model folder, e.g. a lite-dual")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with servers(), worker(str(Path(arguments.model).resolve())), tempfile.TemporaryDirectory() as folder:
        import redis

        from workers.demo.celery import interactive_app
        from workers.demo.presence import WorkerState, worker_state
        from workers.demo.searching import Search

        url = os.environ["PANEL_BROKER_URL"]
        client = redis.Redis.from_url(url)
        state = worker_state(client) or WorkerState(ready=False)
        vectors = fill(state.model_key, state.dimension)
        search = Search(app=interactive_app(url), client=client)
        rows = []
        for words, facts in (
            ("a text", {"text": True, "images": 0}),
            ("an image", {"text": False, "images": 1}),
            ("an image, without pauses", {"text": False, "images": 1, "pause": 0.0}),
            ("text and image", {"text": True, "images": 1}),
            ("8 slices", {"text": False, "images": 8}),
        ):
            seconds = timed(search, Path(folder), **facts)
            rows.append(
                [words, f"{np.median(seconds):.3f}", f"{np.quantile(seconds, 0.95):.3f}", f"{max(seconds):.3f}"]
            )
        share = recall(vectors, state.model_key)
    body = "\n\n".join(
        [
            f"`python benchmarks/panel.py --model lite-dual --write`, {machine()}.",
            f"{N_ITEMS:,} items of {vectors.shape[1]} numbers, {N_QUERIES} queries of each kind with a warm worker.",
            "They come a second apart; without pauses, files wait until the next sealed process that reads them has started.",
            "Seconds from the query to the page's HTML:",
            markdown_table(["query", "median", "95%", "slowest"], rows),
            f"Recall@10 of the index against exact search over 200 queries: {share:.4f}.",
        ]
    )
    print(body)
    if arguments.write:
        write_section(f"# {TITLE}\n\n{body}")


if __name__ == "__main__":
    main()
