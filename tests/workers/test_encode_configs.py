"""The encode config of a revision reaches the evaluating child by name."""

from pathlib import Path

import pytest

from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.tiny import write_tiny_clip
from evaluation.errors import ModelUnsupported
from evaluation.suites.demo.suite import build_demo
from evaluation.vocabulary import EmbedderFamily
from leaderboard.models import EmbeddingModel, ModelRevision
from tests.workers.sandboxes import usable
from workers.child import ChildOrder, EvaluatingChild
from workers.child_errors import ChildError
from workers.enclosures import Evaluation, child_limits, evaluating_enclosure
from workers.orders import encode_config_name
from workers.sandbox.choice import SANDBOXES
from workers.sandbox.protocol import Sandbox


def order(folder: Path, name: str, sandbox: Sandbox) -> ChildOrder:
    store = folder / "store"
    store.mkdir(exist_ok=True)
    evaluation = Evaluation(
        model=folder / "clip",
        adapter=None,
        encode_config=name,
        suite=folder / "suite",
        device="cpu",
        store=store,
        store_bytes=10_000_000,
    )
    return ChildOrder(
        enclosure=evaluating_enclosure(evaluation, child_limits(store_bytes=10_000_000, n_tasks=1)),
        sandbox=sandbox,
        store_bytes=10_000_000,
        log=folder / "child.log",
        timeout_seconds=60,
    )


@pytest.mark.parametrize("name", SANDBOXES)
def test_the_child_loads_the_config_that_it_was_ordered(tmp_path: Path, name: str) -> None:
    sandbox = usable(name)
    write_tiny_clip(tmp_path / "clip", seed=1)
    for path in (tmp_path / "clip").iterdir():
        path.chmod(0o644)  # as a download leaves it: a root worker's child is another user
    build_demo(tmp_path / "suite")
    with EvaluatingChild(order(tmp_path, "default", sandbox)) as child:
        assert child.wait_until_ready()["model"]["encode_config"]["name"] == "default"
    with (
        EvaluatingChild(order(tmp_path, "other", sandbox)) as child,
        pytest.raises(ChildError, match="'other'") as refused,
    ):
        child.wait_until_ready()
    assert refused.value.code == "model_unsupported"


def test_a_revision_names_its_config_by_digest() -> None:
    model = EmbeddingModel(repo_id="demo/clip", family="clip")
    digest = encode_config(EmbedderFamily.CLIP).sha256
    assert encode_config_name(ModelRevision(model=model, encode_config_sha256="")) == ""
    assert encode_config_name(ModelRevision(model=model, encode_config_sha256=digest)) == "default"
    with pytest.raises(ModelUnsupported, match="any more"):
        encode_config_name(ModelRevision(model=model, encode_config_sha256="0" * 64))
