"""`python only_these_packages.py REQUIREMENTS MODULE ...`: import modules as if nothing else were installed.

What belongs to an installed distribution that the file does not name cannot be imported.
"""

import importlib
import importlib.metadata
import re
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

ALWAYS_THERE = {"pip", "setuptools", "pkg-resources"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(file: Path) -> set[str]:
    return {canonical(line.split("==")[0]) for line in file.read_text().splitlines() if "==" in line}


class OnlyThese(MetaPathFinder):
    def __init__(self, distributions: set[str]) -> None:
        self.allowed = distributions | ALWAYS_THERE
        packages = importlib.metadata.packages_distributions()
        self.owners = {package: {canonical(name) for name in names} for package, names in packages.items()}

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        owners = self.owners.get(name.partition(".")[0], set())
        if owners and not owners & self.allowed:
            raise ModuleNotFoundError(f"{name} is not among the requirements of the image", name=name)


def main() -> None:
    file, *modules = sys.argv[1:]
    sys.meta_path.insert(0, OnlyThese(required(Path(file))))
    sys.path.insert(0, ".")
    import django

    django.setup()
    for module in modules:
        importlib.import_module(module)
    sys.stdout.write("all imported\n")


if __name__ == "__main__":
    main()
