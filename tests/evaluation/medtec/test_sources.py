"""The names under which other suites list MedTEC's data sets are names that they have."""

import importlib
import pkgutil

from evaluation.suites.medheb.catalogue import dataset_rows
from evaluation.suites.medtec import mini
from evaluation.suites.medtec.anchors.catalogue import DATA_SETS
from evaluation.suites.medtec.anchors.covid import COVID
from evaluation.suites.medtec.questions import VQA_RAD
from evaluation.suites.medtec.sources import SAME_IMAGES, names_of
from evaluation.suites.mini import sources
from evaluation.suites.mini.source import Source

LONGEST_NAME = 64
"""Of the column that holds it."""


def _mini_names() -> set[str]:
    modules = [
        importlib.import_module(f"{sources.__name__}.{found.name}") for found in pkgutil.iter_modules(sources.__path__)
    ]
    return {one.dataset for module in modules for one in vars(module).values() if isinstance(one, Source)}


def test_every_name_is_one_of_a_suite() -> None:
    own = {*DATA_SETS, COVID.name, VQA_RAD}
    others = _mini_names() | {row["name_in_source"] for row in dataset_rows()}
    assert set(SAME_IMAGES) <= own
    named = {name for names in SAME_IMAGES.values() for name in names}
    assert named <= others
    assert max(len(name) for name in named | own) <= LONGEST_NAME


def test_what_the_mini_suites_share_by_their_files_is_named() -> None:
    for dataset, source in mini._TRAINED.items():
        assert source.dataset in names_of(dataset)


def test_a_data_set_that_no_other_suite_has_keeps_its_own_name() -> None:
    assert names_of("merlin") == ("merlin",)
    assert names_of("aptos2019") == ("aptos2019", "APTOS-2019")
