"""What counts as a lack of memory, with real failures of real allocators."""

import subprocess
import sys

import pytest
import torch

from evaluation.embedding.memory import is_out_of_memory

LIMITED = """
import resource
import numpy as np
from evaluation.embedding.encode import embed_inputs
from evaluation.inputs import EmbeddingInput
from evaluation.types import ModelDescription

class Hungry:
    description = ModelDescription(family="chance", architecture="Hungry", dimension=1, parameters=0, kinds=("text",))
    sizes = []

    def cuts(self, texts):
        return [False] * len(texts)

    def token_counts(self, batch):
        return [1] * len(batch)

    def embed(self, batch):
        work = np.empty((len(batch), 1 << 27))  # one gibibyte an input
        self.sizes.append(len(batch))
        work[:, 0] = 1
        return work[:, :1].astype(np.float32)

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (5 << 29), -1))  # room for two inputs and a half
embedder = Hungry()
rows = embed_inputs(embedder, [EmbeddingInput(text=str(n)) for n in range(7)], batch_size=7)
print(rows.ravel().tolist(), embedder.sizes)
"""


def test_an_allocation_that_torch_refuses_is_a_lack_of_memory() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_out_of_memory(caught.value)


def test_what_a_gpu_says_is_a_lack_of_memory() -> None:
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."))
    assert is_out_of_memory(RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"))


def test_other_errors_are_not() -> None:
    assert not is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not is_out_of_memory(ValueError("out of memory"))


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is limited on Linux only")
def test_a_process_with_little_memory_embeds_all() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    rows, _, sizes = done.stdout.strip().partition("] [")
    assert rows == "[" + ", ".join(["1.0"] * 7)
    assert max(int(size) for size in sizes.strip("]").split(",")) == 2
