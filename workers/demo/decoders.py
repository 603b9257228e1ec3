"""Reads visitors' files in sealed processes, which hand back nothing but pixels of checked shape and type.

A process reads the files of one query and is ended. Starting one takes half a second, so some stand ready; each has seen
nothing before. It has no network, no files of this machine but Python and its own folder, bounded memory and time.
"""

import contextlib
import json
import logging
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

from workers.demo.configuration import BASE_DIR
from workers.demo.limits import DECODING_SECONDS, MAX_TOTAL_BYTES
from workers.demo.pictures import Pictures, PicturesInvalid, read_pictures
from workers.demo.refusals import PanelRefusal
from workers.demo.upload_decoder import READY
from workers.sandbox.places import python_places, python_program
from workers.sandbox.protocol import Enclosure, Limits, Sandbox, SandboxUnavailable
from workers.sealed_process import end_sealed, start_sealed
from workers.watch import Allowance, Watch

READY_AT_ONCE = 3
_MIB = 1 << 20
LIMITS = Limits(
    memory_bytes=2048 * _MIB,
    processes=64,
    tmp_bytes=_MIB,
    file_bytes=_MIB,
    cpu_seconds=4 * DECODING_SECONDS,
)
_FIRST_START_SECONDS = 60
_START_SECONDS = 4
_SHOWN_ERROR = 500

TOO_SLOW = "Reading your files took too long, so it was stopped. Send fewer or smaller ones, or save them as PNG."
TOO_LARGE = "Reading your files took more memory than it may. Reduce them, or save them as PNG."
BROKEN = "Reading your files failed, as it may with damaged ones. Save them as PNG or JPEG, and send them again."
UNAVAILABLE = "Files cannot be read at the moment. Try again in a minute; texts are searched as ever."

EnclosureOf = Callable[[Path], Enclosure]

logger = logging.getLogger(__name__)


class DecoderUnavailable(Exception):
    """No sealed process can be started; the text says why, for whoever runs the worker."""


class Decoders:
    """Sealed processes that stand ready, one for each query.

    Args:
        sandbox: how they are sealed off.
        seconds: the most that reading the files of one query may take.
        enclosure_of: what a process is started on, given its folder.
    """

    def __init__(
        self, sandbox: Sandbox, *, seconds: float = DECODING_SECONDS, enclosure_of: EnclosureOf | None = None
    ) -> None:
        self._sandbox = sandbox
        self._seconds = seconds
        self._enclosure_of = enclosure_of or decoding_enclosure
        self._ready: deque[_Decoder] = deque()

    def require(self) -> None:
        """Start them, and wait until the first one is ready.

        Raises:
            DecoderUnavailable: it cannot be started.
        """
        self._start()
        self._ready[0].wait(_FIRST_START_SECONDS)

    def fill(self) -> None:
        """Start as many as are missing, without waiting for them. What stands in the way is logged."""
        try:
            self._start()
        except DecoderUnavailable:
            logger.exception("no process can be started that reads visitors' files")

    def read(self, files: Sequence[bytes], *, measured: bool) -> Pictures:
        """What a visitor's files show, with the measured values of a volume if `measured`.

        Raises:
            PanelRefusal: they cannot be read within the bounds.
        """
        self.fill()
        if not self._ready:
            raise PanelRefusal(UNAVAILABLE)
        decoder = self._ready.popleft()
        try:
            decoder.wait(_START_SECONDS)
            return decoder.read(files, measured=measured, seconds=self._seconds)
        except DecoderUnavailable as error:
            logger.exception("a process that reads visitors' files did not start")
            raise PanelRefusal(UNAVAILABLE) from error
        finally:
            decoder.close()

    def close(self) -> None:
        """End all."""
        while self._ready:
            self._ready.pop().close()

    def _start(self) -> None:
        while len(self._ready) < READY_AT_ONCE:
            self._ready.append(_Decoder(self._sandbox, self._enclosure_of))


def decoding_enclosure(folder: Path) -> Enclosure:
    """The enclosure of `python -m workers.demo.upload_decoder` with the folder in which a visitor's files will lie."""
    return Enclosure(
        command=(python_program(), "-P", "-m", "workers.demo.upload_decoder", str(folder)),
        environment={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "PYTHONPATH": str(BASE_DIR),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "HOME": "/nonexistent",
        },
        read_only=(*python_places(), BASE_DIR / "evaluation", BASE_DIR / "workers"),
        writable=folder,
        devices=(),
        limits=LIMITS,
    )


class _Decoder:
    """One process, from its start until the files of one query were read.

    It ends with the thread that started it, as the kernel sees to for sealed processes.
    """

    def __init__(self, sandbox: Sandbox, enclosure_of: EnclosureOf) -> None:
        self._verdict = ""
        self._is_ready = False
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="panel-")).resolve()
            self._process = start_sealed(sandbox, enclosure_of(self._folder))
        except (OSError, SandboxUnavailable) as error:
            raise DecoderUnavailable(str(error)) from error

    def wait(self, seconds: float) -> None:
        """Wait until all is imported; only our own code ran until then.

        Raises:
            DecoderUnavailable: it ended, or takes longer than `seconds`.
        """
        if self._is_ready:
            return
        with self._ended_after(seconds, "it took too long"):
            self._is_ready = _stream(self._process.stdout).read(len(READY)) == READY
            if self._is_ready:
                return
            said = _stream(self._process.stderr).read(_SHOWN_ERROR).decode(errors="replace")
        raise DecoderUnavailable(self._verdict or said or "it ended without a word")

    def read(self, files: Sequence[bytes], *, measured: bool, seconds: float) -> Pictures:
        """Let it read files.

        Raises:
            PanelRefusal: they cannot be read.
        """
        allowance = Allowance(LIMITS.memory_bytes, self._folder, 2 * MAX_TOTAL_BYTES)
        watch = Watch(self._process.pid, allowance, lambda _excess: self._end(TOO_LARGE))
        with self._ended_after(seconds, TOO_SLOW):
            watch.start()
            try:
                names = self._written(files)
                stdin = _stream(self._process.stdin)
                stdin.write(json.dumps({"files": names, "measured": measured}).encode() + b"\n")
                stdin.flush()
                return read_pictures(_stream(self._process.stdout))
            except (BrokenPipeError, PicturesInvalid) as error:
                self._end(BROKEN)
                logger.warning("a visitor's files were not read: %s (%s)", self._verdict, error)
                raise PanelRefusal(self._verdict) from error
            finally:
                watch.stop()

    def close(self) -> None:
        """End it, and remove what it was given."""
        self._end("")
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(BrokenPipeError):  # what was not sent is of no use any more
                _stream(stream).close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _written(self, files: Sequence[bytes]) -> list[str]:
        names = [f"{number:02d}" for number in range(len(files))]
        for name, content in zip(names, files, strict=True):
            (self._folder / name).write_bytes(content)
        return names

    def _end(self, verdict: str) -> None:
        """End it at once, from any thread; the first verdict stays."""
        self._verdict = self._verdict or verdict
        end_sealed(self._process)

    @contextlib.contextmanager
    def _ended_after(self, seconds: float, verdict: str) -> Iterator[None]:
        timer = threading.Timer(seconds, self._end, [verdict])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the process was started without this stream")
    return stream
