"""Which files of the machine a sealed Python needs, and which devices."""

import sys
from collections.abc import Iterable
from pathlib import Path

_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr")
# Where libraries are found, and what time it is; nothing of accounts, keys or names of other machines.
_ETC = ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime")
_NVIDIA = "nvidia"
_HARDWARE = ("bus", "class", "dev", "devices")


def system_places(root: Path = Path("/")) -> tuple[list[Path], list[tuple[str, Path]]]:
    """The system's own folders, and those that are links today (target, link), as /lib is where /usr holds all."""
    entries = [root / name for name in _SYSTEM]
    folders = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    links = [(str(entry.readlink()), entry) for entry in entries if entry.is_symlink()]
    etc = [path for name in _ETC if (path := root / "etc" / name).exists()]
    return folders + etc, links


def python_places() -> list[Path]:
    """Where the running interpreter and its packages lie."""
    return [Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()]


def python_program() -> str:
    """The running interpreter, by a path that also holds where only `python_places` are seen."""
    return str(Path(sys.prefix).resolve() / "bin" / Path(sys.executable).name)


def linked_places(folder: Path, *, depth: int) -> list[Path]:
    """What links in the first levels of a folder lead to outside of it, as image roots of a suite may."""
    root = folder.resolve()
    found = []
    for entry in sorted(root.iterdir()) if root.is_dir() else ():
        if entry.is_symlink():
            target = entry.resolve()
            if target.exists() and not target.is_relative_to(root):
                found.append(target)
        elif depth > 1 and entry.is_dir():
            found += linked_places(entry, depth=depth - 1)
    return found


def accelerator_devices(device: str, present: Iterable[Path]) -> tuple[Path, ...]:
    """Those of the present device files that a torch device needs: all of NVIDIA's, or none for a CPU.

    Which of several GPUs is used says CUDA_VISIBLE_DEVICES, whose numbers are not those of the device files.
    """
    if not device.startswith("cuda"):
        return ()
    return tuple(sorted(path for path in present if path.name.startswith(_NVIDIA)))


def accelerator_places(device: str, root: Path = Path("/")) -> list[Path]:
    """What a torch device's driver looks up of the machine's hardware; nothing for a CPU."""
    places = [root / "sys" / name for name in _HARDWARE] if device.startswith("cuda") else []
    return [place for place in places if place.is_dir()]


def present_devices() -> list[Path]:
    """The device files of this machine that an accelerator may have."""
    return list(Path("/dev").glob(f"{_NVIDIA}*"))


def outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths, resolved and without those that lie in another of them, in order."""
    resolved = sorted({path.resolve() for path in paths})
    return [path for path in resolved if not any(parent in resolved for parent in path.parents)]
