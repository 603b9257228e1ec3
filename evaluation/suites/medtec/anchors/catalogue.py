"""All data sets that anchors can be taken from. The first one of a modality in a suite is its main one."""

from collections.abc import Mapping

from evaluation.errors import SuiteInvalid
from evaluation.suites.medtec.anchors.aptos import APTOS
from evaluation.suites.medtec.anchors.brain_tumor import BRAIN_TUMOR
from evaluation.suites.medtec.anchors.busi import BUSI
from evaluation.suites.medtec.anchors.candidates import DataSet
from evaluation.suites.medtec.anchors.chexpert import CHEXPERT
from evaluation.suites.medtec.anchors.ham10000 import HAM10000
from evaluation.suites.medtec.anchors.idrid import IDRID
from evaluation.suites.medtec.anchors.isic2017 import ISIC2017
from evaluation.suites.medtec.anchors.merlin import MERLIN
from evaluation.suites.medtec.anchors.mskcc import MSKCC
from evaluation.suites.medtec.anchors.nct_crc import NCT_CRC, PATH_MNIST
from evaluation.suites.medtec.anchors.nih import NIH
from evaluation.suites.medtec.anchors.odir import ODIR
from evaluation.suites.medtec.anchors.openi import OPENI
from evaluation.suites.medtec.anchors.pad_ufes import PAD_UFES

DATA_SETS: Mapping[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        CHEXPERT,
        NIH,
        OPENI,
        MERLIN,
        HAM10000,
        ISIC2017,
        MSKCC,
        ODIR,
        IDRID,
        APTOS,
        NCT_CRC,
        PATH_MNIST,
        BRAIN_TUMOR,
        BUSI,
        PAD_UFES,
    )
}


def data_set_named(name: str) -> DataSet:
    """A data set by its name.

    Raises:
        SuiteInvalid: there is none of that name.
    """
    if name not in DATA_SETS:
        raise SuiteInvalid(f"{name!r} is no data set; choose one of {', '.join(DATA_SETS)}")
    return DATA_SETS[name]
