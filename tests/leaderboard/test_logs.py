"""Every line of the log says what run it is about, and in JSON it is one object."""

import io
import json
import logging
import logging.config
import threading
import uuid
from collections.abc import Iterator

import pytest

from leaderboard.config.logs import about_run, logging_config


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What a logger of the test's own writes with the project's filter and formatter."""
    config = logging_config("json")
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(config["filters"]["run"]["()"]())
    handler.setFormatter(config["formatters"]["chosen"]["()"]())
    logger = logging.getLogger("tests.lines")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield stream
    logger.removeHandler(handler)


def read(stream: io.StringIO) -> list[dict[str, str]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_lines_are_objects_with_the_run_that_they_are_about(lines: io.StringIO) -> None:
    logger = logging.getLogger("tests.lines")
    run, other = uuid.uuid4(), uuid.uuid4()
    logger.info("before")
    with about_run(run):
        logger.info("two\nlines and a %s", "“quote”")
        with about_run(other):
            logger.warning("inner")
        logger.info("again")
    first, second, inner, again = read(lines)
    assert (first["message"], first["level"], first["logger"]) == ("before", "INFO", "tests.lines")
    assert "run_id" not in first
    assert (second["message"], second["run_id"]) == ("two\nlines and a “quote”", str(run))
    assert (inner["level"], inner["run_id"]) == ("WARNING", str(other))
    assert again["run_id"] == str(run)


def test_an_exception_stays_on_its_line(lines: io.StringIO) -> None:
    try:
        {}["lost"]
    except KeyError:
        logging.getLogger("tests.lines").exception("it broke")
    (line,) = read(lines)
    assert "KeyError: 'lost'" in line["exception"]


def test_threads_do_not_share_their_run(lines: io.StringIO) -> None:
    logger = logging.getLogger("tests.lines")
    mine, theirs = uuid.uuid4(), uuid.uuid4()

    def speak() -> None:
        logger.info("stranger")
        with about_run(theirs):
            logger.info("their")

    with about_run(mine):
        thread = threading.Thread(target=speak, name="speaker")
        thread.start()
        thread.join()
        logger.info("mine")
    stranger, their, own = read(lines)
    assert "run_id" not in stranger
    assert (their["run_id"], their["thread"]) == (str(theirs), "speaker")
    assert own["run_id"] == str(mine)


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="LOG_FORMAT is 'xml'"):
        logging_config("xml")
