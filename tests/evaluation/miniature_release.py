"""A release in miniature: all 107 tasks of the catalogue at their paths, three records each, with drawn images.

The files are what the release's layout and record format ask for and nothing else; every image differs from every
other. Some image roots are packed into archives of the kinds and shapes that a release could have.
"""

import json
import shutil
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.types import TaskSpec
from evaluation.vocabulary import Parser, PoolScope

RECORDS = 3
SLICES = 2
LABELS = ("normal", "a mass", "an effusion")

RESTRICTED_ROOT = "2D_Images/MIMIC-CXR-T"
RESTRICTED_TASKS = ("MIMIC-CXR-LT_cls", "MIMIC-CXR-LT_i2i", "MIMIC-CXR-LT_t2i")

PACKED = {
    # Members begin with the folder that has the archive's name.
    "2D_Images/BloodMNIST.zip": ("2D_Images", ["2D_Images/BloodMNIST"]),
    # Members begin below the folder that has the archive's name.
    "2D_Images/DermaMNIST.tar.gz": ("2D_Images/DermaMNIST", ["2D_Images/DermaMNIST"]),
    # An archive inside an image root.
    "2D_Images/USData/pictures.zip": ("2D_Images/USData", ["2D_Images/USData"]),
    # Members are the images of a root that lies deeper than the archive tells.
    "2D_Images/RadImageNet-VQA.tar": (
        "2D_Images/RadImageNet-VQA/test/images",
        ["2D_Images/RadImageNet-VQA/test/images"],
    ),
    # One archive for several roots, with a name that says nothing.
    "2D_Images/part-1.zip": ("2D_Images", ["2D_Images/APTOS", "2D_Images/ChestMNIST"]),
    # Volumes that three tasks share.
    "3D_Images/M3D.tar.xz": ("3D_Images", ["3D_Images/M3D"]),
    # At the top of the release, with roots inside roots.
    "3D_Images.tgz": (
        "",
        [
            f"3D_Images/{name}"
            for name in ("CT_RATE", "RadGen_CT", "BraTS2023", "SynthRAD", "CirrMRI600_Cross", "ChirrMRI600", "MRNet")
        ],
    ),
    "2D_Images/part-2.tar.bz2": (
        "2D_Images",
        [
            f"2D_Images/{name}"
            for name in [
                "ISIC-2019",
                "Brain-Tumor-MRI",
                "OCTMNIST",
                "OrganAMNIST",
                "OrganCMNIST",
                "OrganSMNIST",
                "PathMNIST",
                "TissueMNIST",
                "PanNuke",
                "kvasir-dataset",
                "lc25000",
                "chexpert_plus",
                "REtinal",
                "PanNuke_VG",
                "UltrasoundNerve",
                "ChestImagrome",
            ]
        ],
    ),
}
"""Archive -> the folder that its members are relative to, and the folders that it holds."""


def write_release(folder: Path) -> None:
    """Write all task files and all images, unpacked."""
    for spec in medheb_suite().tasks:
        path = folder / spec.data_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(records_of(folder / spec.image_root, spec)), encoding="utf-8")


def pack_release(folder: Path) -> None:
    """Put some image roots into archives and remove them."""
    for archive, (top, packed) in PACKED.items():
        files = sorted(path for below in packed for path in (folder / below).rglob("*") if path.is_file())
        write_archive(folder / archive, {path.relative_to(folder / top).as_posix(): path for path in files})
        for path in files:
            path.unlink()


def write_archive(archive: Path, files: dict[str, Path]) -> None:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive, "w") as packed:
            for name, path in files.items():
                packed.write(path, name)
        return
    kind = {".tar": "w", ".gz": "w:gz", ".tgz": "w:gz", ".xz": "w:xz", ".bz2": "w:bz2"}[archive.suffix]
    with tarfile.open(archive, kind) as packed:
        for name, path in files.items():
            packed.add(path, name)


def withhold(folder: Path, elsewhere: Path) -> Path:
    """Take the images of a restricted source out of the release; returns where they lie now."""
    shutil.move(folder / RESTRICTED_ROOT, elsewhere)
    return elsewhere


def records_of(root: Path, spec: TaskSpec) -> list[dict[str, Any]]:
    return [_record(root, spec, number) for number in range(RECORDS)]


def _record(root: Path, spec: TaskSpec, number: int) -> dict[str, Any]:
    record: dict[str, Any] = {"qry_inst": "Find what fits.", "qry_text": f"{spec.name}, question {number}"}
    order = [(number + step) % RECORDS for step in range(RECORDS)]
    if spec.pool is PoolScope.GLOBAL:
        order = order[:1]
    match spec.parser:
        case Parser.IMAGE_CLS | Parser.IMAGE_QA:
            record |= {"qry_img_path": draw(root, f"{number}.png"), "tgt_text": [LABELS[other] for other in order]}
        case Parser.IMAGE_I2I_VG:
            images = [draw(root, f"match{other}.png") for other in order]
            record |= {
                "qry_img_path": draw(root, f"{number}.png"),
                "tgt_img_path": images,
                "tgt_text": [""] * len(images),
            }
        case Parser.IMAGE_I2I:
            crops = [draw(root, f"{spec.name}/{number}_crop{crop}.png") for crop in range(2)]
            record |= {"qry_img_path": draw(root, f"{number}.png"), "tgt_img_path": crops, "tgt_text": []}
        case Parser.IMAGE_T2I:
            record |= {"tgt_img_path": [draw(root, f"{other}.png") for other in order], "tgt_text": [""] * len(order)}
        case Parser.TEXT_QA:
            record |= {"tgt_text": [f"{spec.name}, answer {other}" for other in order]}
        case Parser.VOLUME_I2T:
            record |= {
                "qry_img_path": _volume(root, f"case{number}"),
                "qry_modality": "video",
                "tgt_text": [LABELS[other] for other in order],
            }
        case Parser.VOLUME_T2I:
            record |= {
                "tgt_img_path": [_volume(root, f"case{other}") for other in order],
                "tgt_modality": "video",
                "tgt_text": [""] * len(order),
            }
        case Parser.VOLUME_I2I:
            record |= {
                "qry_img_path": _volume(root, f"case{number}"),
                "tgt_img_path": [_volume(root, f"other{other}") for other in order],
            }
    return record


def _volume(root: Path, name: str) -> list[str]:
    return [draw(root, f"{name}/{position}.png") for position in range(SLICES)]


def draw(root: Path, name: str) -> str:
    """An image of its own for every path: a bright disc on noise."""
    path = root / name
    if not path.exists():
        _, below_images, place = str(path).partition("_Images/")
        assert below_images, f"{path} lies in no image root, so it would not differ from others"
        generator = np.random.default_rng(zlib.crc32(place.encode()))
        pixels = generator.integers(0, 90, (20, 24, 3), dtype=np.uint8)
        row, column = generator.integers(4, 16, 2)
        rows, columns = np.mgrid[:20, :24]
        pixels[(rows - row) ** 2 + (columns - column) ** 2 < 12] = generator.integers(120, 255, 3)
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
    return name
