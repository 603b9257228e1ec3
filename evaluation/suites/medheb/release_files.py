"""Which files of a release its tasks need, by their paths alone: task files, images, and archives of images.

An archive counts if it lies in an image root or in one of the folders above it. An archive above that has the name of
the next folder on the way to some image root belongs to the image roots down that way; one of another name may hold
images of any root below the folder in which it lies.
"""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from evaluation.suites.archive_members import archive_suffix
from evaluation.types import TaskSpec


class ReleaseFiles:
    """Sorts the paths of a release for the tasks that are wanted, out of all tasks of the suite."""

    def __init__(self, wanted: Sequence[TaskSpec], suite: Sequence[TaskSpec]) -> None:
        self._task_files = {spec.data_path for spec in wanted}
        self._wanted_roots = _roots(wanted)
        self._all_roots = _roots(suite)

    def is_task_file(self, path: str) -> bool:
        """Whether it is the file of a wanted task."""
        return path in self._task_files

    def roots_of_archive(self, path: str) -> tuple[str, ...]:
        """The image roots of wanted tasks whose images may be in an archive; none for a path that is no archive."""
        if not archive_suffix(path):
            return ()
        around, named, below = self._roots_by_place(path)
        roots = [*around, *(named or below)]
        return tuple(str(root) for root in roots if root in self._wanted_roots)

    def is_named(self, path: str) -> bool:
        """Whether the place or the name of an archive says which image roots it serves."""
        around, named, _ = self._roots_by_place(path)
        return bool(around or named)

    def _roots_by_place(self, path: str) -> tuple[list[PurePosixPath], list[PurePosixPath], list[PurePosixPath]]:
        """The roots in which an archive lies, those below it in the folder of its name, and all below it."""
        folder = PurePosixPath(path).parent
        around = [root for root in self._all_roots if folder.is_relative_to(root)]
        below = [root for root in self._all_roots if folder in root.parents]
        stem = archive_stem(path).lower()
        named = [root for root in below if root.relative_to(folder).parts[0].lower() == stem]
        return around, named, below

    def archives(self, paths: Iterable[str]) -> list[str]:
        """The archives among the paths that may hold images of wanted tasks, sorted."""
        return sorted(path for path in paths if self.roots_of_archive(path))


def archive_stem(path: str) -> str:
    """The name of an archive without its ending."""
    name = PurePosixPath(path).name
    return name[: len(name) - len(archive_suffix(name))]


def _roots(specs: Sequence[TaskSpec]) -> tuple[PurePosixPath, ...]:
    return tuple(PurePosixPath(root) for root in dict.fromkeys(spec.image_root for spec in specs) if root)
