"""Visitors' files are read by real sealed processes; whatever a file does there costs its own query alone."""

import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.processes import BASE_DIR
from tests.workers.panel_files import bomb, deflated, dicom, laborious, png
from tests.workers.sandboxes import MIB, SEALING, usable
from workers.demo import tasks
from workers.demo.decoders import (
    BROKEN,
    TOO_LARGE,
    TOO_SLOW,
    UNAVAILABLE,
    Decoders,
    DecoderUnavailable,
    decoding_enclosure,
)
from workers.demo.limits import MAX_PIXELS, MAX_REFUSAL_CHARACTERS
from workers.demo.pictures import PicturesInvalid, read_pictures
from workers.demo.refusals import PanelRefusal
from workers.sandbox.choice import SANDBOXES, best_sandbox_name
from workers.sandbox.places import python_places, python_program
from workers.sandbox.protocol import Enclosure, Sandbox, SandboxUnavailable

PROGRAM = BASE_DIR / "tests" / "workers" / "hostile_decoder.py"


@pytest.fixture(scope="module")
def sealed() -> Iterator[Decoders]:
    """Real decoders, with less time and memory than a visitor's files may have."""
    with closing(Decoders(sealing(), seconds=3, enclosure_of=narrow_enclosure)) as decoders:
        decoders.require()
        yield decoders


def sealing() -> Sandbox:
    """The best that this machine allows."""
    return usable(best_sandbox_name() if best_sandbox_name() in SEALING else SEALING[0])


def narrow_enclosure(folder: Path) -> Enclosure:
    enclosure = decoding_enclosure(folder)
    return replace(enclosure, limits=replace(enclosure.limits, memory_bytes=400 * MIB))


def taken_over(mode: str, folder: Path) -> Enclosure:
    """The real enclosure with a hostile program in it."""
    command = (python_program(), "-I", "-S", str(PROGRAM), mode, str(folder))
    return replace(decoding_enclosure(folder), command=command, read_only=(*python_places(), PROGRAM))


def refusal_of(decoders: Decoders, *files: bytes) -> str:
    with pytest.raises(PanelRefusal) as caught:
        decoders.read(files, measured=False)
    return caught.value.message


@pytest.mark.parametrize("name", SANDBOXES)
def test_every_way_of_sealing_and_none_hands_back_the_pixels_of_the_file(name) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    with closing(Decoders(usable(name))) as decoders:
        found = decoders.read([stream.getvalue()], measured=False)
    assert np.array_equal(np.asarray(found.images[0]), pixels)
    assert (len(found.images), found.is_volume, found.volume) == (1, False, None)


def test_a_series_is_a_volume_with_what_was_measured(sealed) -> None:
    found = sealed.read([dicom(20 * place, position=place) for place in (3, 1, 2)], measured=True)
    assert found.is_volume
    assert len(found.images) == 3
    assert found.volume.spacing == (0.5, 0.5, 1.0)
    # The first pixel of a slice lies at the patient's right and front; the axes run to the left, so it is turned round.
    assert found.volume.values.shape == (4, 4, 3)
    assert found.volume.values[-1, -1].tolist() == [20, 40, 60]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (bomb(7000), "The files hold more than 40,000,000 pixels together. Reduce them or send fewer."),
        (png(64, 64)[:-40], "File 1 cannot be decoded"),
        (dicom(1, position=0)[:-9], "File 1 cannot be decoded"),
        (
            b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
            "File 1 cannot be decoded",
        ),
        (deflated(512 * MIB), "File 1 is too large to decode"),
    ],
    ids=["bomb", "truncated PNG", "truncated DICOM", "SVG", "deflated bomb"],
)
def test_a_file_that_cannot_be_read_is_said_so_and_the_next_one_is_read(sealed, content, sentence) -> None:
    refused = refusal_of(sealed, content)
    assert refused.startswith(sentence)
    assert len(refused) <= MAX_REFUSAL_CHARACTERS
    assert "/" not in refused
    assert len(sealed.read([png()], measured=False).images) == 1


def test_a_file_that_takes_too_long_is_said_so_and_the_next_one_is_read() -> None:
    """Parsing it takes seconds and well under the memory; a small picture takes a hundredth of a second."""
    with closing(Decoders(sealing(), seconds=0.5)) as decoders:
        decoders.require()
        assert refusal_of(decoders, laborious(1_000_000)) == TOO_SLOW
        assert len(decoders.read([png()], measured=False).images) == 1


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("hang", TOO_SLOW),
        ("crash", BROKEN),
        ("eat_memory", TOO_LARGE),
        ("print_without_end", BROKEN),
        ("lie", BROKEN),
        ("end_early", BROKEN),
        ("look_around", "found ."),
    ],
)
def test_a_decoder_that_was_taken_over_reaches_nothing_and_is_ended(mode, sentence, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("PANEL_BROKER_URL", "redis://:password@127.0.0.1:1/0")
    (tmp_path / "secret").write_text("of another visitor")
    seconds = 1 if mode == "hang" else 10
    with closing(Decoders(sealing(), seconds=seconds, enclosure_of=partial(taken_over, mode))) as decoders:
        assert refusal_of(decoders, png()) == sentence
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    started = [one for one in psutil.process_iter(["cmdline"]) if str(PROGRAM) in (one.info["cmdline"] or [])]
    assert psutil.wait_procs(started, timeout=10)[1] == []


def test_what_does_not_start_is_said_to_the_operator_and_to_the_visitor() -> None:
    def broken(folder: Path) -> Enclosure:
        return replace(decoding_enclosure(folder), command=(python_program(), "-c", "raise SystemExit('no numpy')"))

    with closing(Decoders(sealing(), enclosure_of=broken)) as decoders:
        with pytest.raises(DecoderUnavailable, match="no numpy"):
            decoders.require()
        assert refusal_of(decoders, png()) == UNAVAILABLE


def test_a_worker_that_cannot_seal_files_off_does_not_start(monkeypatch) -> None:
    monkeypatch.setenv("SANDBOX", "bubblewrap")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxUnavailable, match="bwrap is not installed"):
        tasks._decoders()


HEADER = {"is_volume": False, "images": [[1, 2]], "volume": None}


@pytest.mark.parametrize(
    "changes",
    [
        {"more": 1},
        {"is_volume": 1},
        {"images": []},
        {"images": [[1, 2]] * 65},
        {"images": [[1, 2, 3]]},
        {"images": [[0, 2]]},
        {"images": [[1, True]]},
        {"images": [[1, MAX_PIXELS + 1]]},
        {"volume": {"shape": [1, 1], "spacing": [1.0, 1.0, 1.0]}},
        {"volume": {"shape": [1, 1, MAX_PIXELS + 1], "spacing": [1.0, 1.0, 1.0]}},
        {"volume": {"shape": [1, 1, 1], "spacing": [1.0, 1.0, float("nan")]}},
        {"volume": {"shape": [1, 1, 1], "spacing": [1.0, 1.0, 0.0]}},
        {"volume": {"shape": [1, 1, 1], "spacing": [1.0, 1.0]}},
    ],
)
def test_an_answer_of_another_form_is_not_taken(changes) -> None:
    with pytest.raises(PicturesInvalid):
        read_pictures(io.BytesIO(json.dumps(HEADER | changes).encode() + b"\n" + bytes(64)))


def test_measured_values_are_finite() -> None:
    header = HEADER | {"volume": {"shape": [1, 1, 1], "spacing": [1.0, 2.0, 3.0]}}
    start = json.dumps(header).encode() + b"\n" + bytes(6)
    found = read_pictures(io.BytesIO(start + np.float32(7).tobytes()))
    assert (found.volume.values.tolist(), found.volume.spacing) == ([[[7.0]]], (1.0, 2.0, 3.0))
    with pytest.raises(PicturesInvalid):
        read_pictures(io.BytesIO(start + np.float32("inf").tobytes()))


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: json.dumps({"refused": text}).encode() + b"\n"))
def test_whatever_comes_is_refused_in_words_that_can_be_printed(content) -> None:
    with pytest.raises((PicturesInvalid, PanelRefusal)) as caught:
        read_pictures(io.BytesIO(content))
    assert str(caught.value).isprintable()
