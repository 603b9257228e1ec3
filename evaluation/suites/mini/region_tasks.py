"""Tasks on regions: an image with the name of a structure, and crops from masks or boxes."""

from collections.abc import Callable, Sequence
from pathlib import Path

from evaluation.suites.building import ImageWriter
from evaluation.suites.mini.drafting import FIND_REGION, below, draft_task
from evaluation.suites.mini.library import Parts, copy_parts, mask_box, save_crop
from evaluation.suites.mini.near_copies import join_near_copies
from evaluation.suites.mini.source import RawCase, Source
from evaluation.suites.mini.sources import eye, microscopy, organs, skin
from evaluation.suites.pairing import Case, generator, link_evidence, with_question
from evaluation.suites.records import Evidence, Record, TaskDraft, TrainingPair
from evaluation.vocabulary import Family, Granularity, Parser, PoolScope

Regions = list[tuple[Evidence, Evidence]]


def region_tasks(writer: ImageWriter, raw: Path) -> tuple[list[TaskDraft], dict[str, list[TrainingPair]]]:
    """All tasks on regions, and training pairs of the sources that are trained."""
    lesions = [case for case in organs.read_busi(raw) if case.label != "no lesion"]
    sources = (
        (organs.BUSI, join_near_copies(lesions), organs.busi_mask, "the lesion"),
        (
            organs.KVASIR,
            join_near_copies(organs.read_kvasir(raw)),
            lambda case: organs.kvasir_mask(raw, case),
            "the polyp",
        ),
        (skin.ISIC, skin.read_isic(raw), lambda case: skin.isic_mask(raw, case), "the lesion"),
        (eye.SEGMENTATION, eye.read_segmentation(raw), lambda case: eye.disc_mask(raw, case), "the optic disc"),
    )
    drafts, training = [], {}
    for source, cases, mask_of, words in sources:
        parts = copy_parts(writer, source, cases)
        crops = _crops(writer, source, cases, mask_of)
        drafts.append(_region_task(source, _pairs(parts.test, crops, words), words))
        if parts.train:
            training[f"{source.dataset}_region"] = _training(source, _pairs(parts.train, crops, words))
    blood, pairs = _blood_tasks(writer, raw)
    return [*drafts, *blood], {**training, f"{microscopy.BCCD.dataset}_region": pairs}


def _crops(
    writer: ImageWriter, source: Source, cases: Sequence[RawCase], mask_of: Callable[[RawCase], Path]
) -> dict[str, str]:
    """The crop's path by the image's."""
    return {
        case.file.name: save_crop(writer, source, case, mask_box(mask_of(case)), f"crops/{case.file.stem}.png")
        for case in cases
    }


def _pairs(cases: Sequence[Case], crops: dict[str, str], words: str) -> Regions:
    return [
        (
            with_question(case, words),
            Evidence(images=(crops[case.images[0]],), patients=frozenset({case.patient})),
        )
        for case in cases
    ]


def _region_task(source: Source, pairs: Regions, words: str) -> TaskDraft:
    return draft_task(
        f"{source.dataset}_region",
        f"{words.removeprefix('the ').capitalize()} of a {source.title}",
        source=source,
        family=Family.REGION_GROUNDING,
        parser=Parser.IMAGE_I2I,
        rule="the crop that the publisher's mask or box gives in the same image",
        records=link_evidence(pairs, instruction=FIND_REGION),
        pool=PoolScope.GLOBAL,
        same_patient=True,
    )


def _training(source: Source, pairs: Regions) -> list[TrainingPair]:
    root = source.image_root
    return [TrainingPair(FIND_REGION, below(root, image), below(root, crop)) for image, crop in pairs]


def _blood_tasks(writer: ImageWriter, raw: Path) -> tuple[list[TaskDraft], list[TrainingPair]]:
    """The one white cell of a smear among those of all smears; and each kind of cell among the kinds of one smear."""
    source = microscopy.BCCD
    marked = {case.file.name: (case, cells) for case, cells in microscopy.read_bccd(raw)}
    parts = copy_parts(writer, source, join_near_copies([case for case, _ in marked.values()]))
    crops = {name: _cell_crops(writer, source, case, cells) for name, (case, cells) in marked.items()}
    white = "white blood cell"
    one_white = {name for name, (_, cells) in marked.items() if sum(cell.kind == white for cell in cells) == 1}

    def white_pairs(part: Sequence[Case]) -> Regions:
        chosen = [case for case in part if case.images[0] in one_white]
        return _pairs(chosen, {name: crops[name][white] for name in one_white}, f"the {white}")

    tasks = [
        _region_task(source, white_pairs(parts.test), f"the {white}"),
        draft_task(
            "BCCD_kind_region",
            "Kind of cell among the cells of one blood smear",
            source=source,
            family=Family.REGION_GROUNDING,
            parser=Parser.IMAGE_I2I_VG,
            rule="the crop of the named kind of cell; the others show other kinds in the same smear",
            records=_kind_records(parts, crops),
            granularity=Granularity.REGION_LEVEL,
            same_patient=True,
        ),
    ]
    return tasks, _training(source, white_pairs(parts.train))


def _cell_crops(
    writer: ImageWriter, source: Source, case: RawCase, cells: Sequence[microscopy.MarkedCell]
) -> dict[str, str]:
    """The first crop of each kind of cell of one smear."""
    crops: dict[str, str] = {}
    for cell in cells:
        if cell.kind not in crops:
            name = f"crops/{case.file.stem}-{cell.kind.replace(' ', '-')}.png"
            crops[cell.kind] = save_crop(writer, source, case, cell.box, name)
    return crops


def _kind_records(parts: Parts, crops: dict[str, dict[str, str]]) -> list[Record]:
    records = []
    for case in parts.test:
        kinds = crops[case.images[0]]
        for kind in sorted(kinds):
            ordered = [kind, *(other for other in sorted(kinds) if other != kind)]
            if len(ordered) > 1:
                candidates = tuple(
                    Evidence(images=(kinds[other],), patients=frozenset({case.patient})) for other in ordered
                )
                records.append(Record(FIND_REGION, with_question(case, f"a {kind}"), candidates))
    order = generator("BCCD_kind_region").permutation(len(records))
    return [records[number] for number in order]
