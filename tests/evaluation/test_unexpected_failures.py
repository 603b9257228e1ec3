"""A lack of memory is told from a defect, wherever it happens: a larger worker helps against the first alone."""

import pytest

from evaluation.embedding.memory import unexpected_failure


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (MemoryError(), "out_of_memory", "limit"),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), "out_of_memory", "limit"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), "out_of_memory", "limit"),
        (RuntimeError("shapes do not match"), "unexpected_failure", "infrastructure"),
        (ValueError("out of memory"), "unexpected_failure", "infrastructure"),
    ],
)
def test_the_kind_of_an_unexpected_failure(error: Exception, code: str, kind: str) -> None:
    failure = unexpected_failure(error)
    assert (failure.code, failure.kind) == (code, kind)
    assert type(error).__name__ in failure.message
