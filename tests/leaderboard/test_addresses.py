"""What people paste into a repository field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.forms.addresses import AddressInvalid, Repository, read_repository, read_revision


@pytest.mark.parametrize(
    ("text", "repository"),
    [
        ("google/medsiglip-448", Repository("google/medsiglip-448")),
        ("  google/medsiglip-448\n", Repository("google/medsiglip-448")),
        ("https://huggingface.co/google/medsiglip-448", Repository("google/medsiglip-448")),
        ("https://huggingface.co/google/medsiglip-448/", Repository("google/medsiglip-448")),
        ("http://www.huggingface.co/a/b?library=transformers#usage", Repository("a/b")),
        ("huggingface.co/a/b", Repository("a/b")),
        ("hf.co/a/b", Repository("a/b")),
        ("https://HuggingFace.co/A.x/b_c", Repository("A.x/b_c")),
        ("https://huggingface.co/a/b/tree/main", Repository("a/b", "main")),
        ("https://huggingface.co/a/b/tree/refs%2Fpr%2F3", Repository("a/b", "refs/pr/3")),
        (f"https://huggingface.co/a/b/commit/{'0f' * 20}", Repository("a/b", "0f" * 20)),
    ],
)
def test_repositories_are_read(text: str, repository: Repository) -> None:
    assert read_repository(text) == repository


def test_the_configured_hub_is_a_hub_too(settings: object) -> None:
    settings.HUB_ENDPOINT = "http://127.0.0.1:9000"
    assert read_repository("http://127.0.0.1:9000/demo/siglip-tiny/tree/v1") == Repository("demo/siglip-tiny", "v1")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("siglip", "owner/name"),
        ("a/b/c", "owner/name"),
        ("a b/c", "owner/name"),
        ("../etc", "owner/name"),
        ("a/..", "owner/name"),
        ("<script>/x", "owner/name"),
        ("https://example.org/a/b", "not an address on the hub"),
        ("https://huggingface.co.example.org/a/b", "not an address on the hub"),
        ("ftp://huggingface.co/a/b", "not an address on the hub"),
        ("https://[/a/b", "can't be read"),
        ("https://huggingface.co/datasets/a/b", "/datasets"),
        ("https://huggingface.co/a", "main page"),
        ("https://huggingface.co/a/b/tree/main/folder", "main page"),
        ("https://huggingface.co/a/b/blob/main/config.json", "main page"),
        ("https://huggingface.co/a/b/tree/..%2F..", "branch, tag or commit"),
    ],
)
def test_other_texts_are_refused_with_what_to_do(text: str, hint: str) -> None:
    with pytest.raises(AddressInvalid, match=hint):
        read_repository(text)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        repository = read_repository(text)
    except AddressInvalid:
        return
    assert repository.repo_id.count("/") == 1
    assert not set(repository.repo_id) & set(" <>\"'\\?#%:@")


@pytest.mark.parametrize("text", ["main", "v1.0", "refs/pr/3", "0f" * 20, "a"])
def test_revisions_are_read(text: str) -> None:
    assert read_revision(f" {text} ") == text


@pytest.mark.parametrize("text", ["", "a b", "../x", "-x", "x/", "é", "a\nb", "x" * 300])
def test_what_cannot_be_a_revision_is_refused(text: str) -> None:
    with pytest.raises(AddressInvalid):
        read_revision(text)
