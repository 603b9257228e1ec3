"""Text collections: PubMedQA, MedQuAD, MeQSum, MTS-Dialog."""

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

from evaluation.errors import DataMissing, SuiteInvalid
from evaluation.suites.mini.source import read_table
from evaluation.suites.pairing import TextPair

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_MAX_ANSWER = 1500
SECTIONS = {
    "FAM/SOCHX": "family and social history",
    "GENHX": "history of present illness",
    "PASTMEDICALHX": "past medical history",
    "CC": "chief complaint",
    "PASTSURGICAL": "past surgical history",
    "ALLERGY": "allergies",
    "ROS": "review of systems",
    "MEDICATIONS": "medications",
    "ASSESSMENT": "assessment",
    "EXAM": "physical examination",
}


def read_pubmedqa(raw: Path) -> list[TextPair]:
    """Research question and the abstract's conclusion."""
    path = raw / "open/text_pubmedqa/data/ori_pqal.json"
    if not path.is_file():
        raise DataMissing(f"{path} does not exist; put the publisher's file there")
    entries = json.loads(path.read_text(encoding="utf-8"))
    return _distinct(
        TextPair(_flat(entry["QUESTION"]), _flat(entry["LONG_ANSWER"])) for _, entry in sorted(entries.items())
    )


def read_medquad(raw: Path) -> list[TextPair]:
    """Consumer question and the institute's answer, cut at 1,500 characters."""
    pairs = []
    for path in sorted((raw / "open/text_medquad").glob("*/*.xml")):
        for item in _xml(path.read_bytes(), str(path)).iter("QAPair"):
            question, answer = _flat(item.findtext("Question") or ""), _flat(item.findtext("Answer") or "")
            if question and answer:
                pairs.append(TextPair(question, answer[:_MAX_ANSWER]))
    return _distinct(pairs)


def read_meqsum(raw: Path) -> list[TextPair]:
    """Consumer health question and its one-sentence summary, from the publisher's spreadsheet."""
    path = raw / "open/text_meqsum/MeQSum_ACL2019_BenAbacha_Demner-Fushman.xlsx"
    rows = _spreadsheet(path)[1:]
    return _distinct(TextPair(_flat(row["B"]), _flat(row["C"])) for row in rows if row.get("B") and row.get("C"))


def read_mts_dialog(raw: Path) -> tuple[list[TextPair], list[tuple[str, str]]]:
    """Visit dialogue and the note's section text; and dialogue and the section's heading for the common headings."""
    folder = raw / "open/text_mts_dialog/Main-Dataset"
    rows = [
        row
        for part in ("TrainingSet", "ValidationSet", "TestSet-1-MEDIQA-Chat-2023")
        for row in read_table(folder / f"MTS-Dialog-{part}.csv")
    ]
    pairs = _distinct(TextPair(_flat(row["dialogue"]), _flat(row["section_text"])) for row in rows)
    headings = {
        _flat(row["dialogue"]): SECTIONS[row["section_header"]] for row in rows if row["section_header"] in SECTIONS
    }
    return pairs, list(headings.items())


def _flat(text: str) -> str:
    return " ".join(text.split())


def _distinct(pairs: Iterable[TextPair]) -> list[TextPair]:
    """The first pair of each query and of each relevant text, so that no text is right for two queries."""
    queries: set[str] = set()
    relevant: set[str] = set()
    kept = []
    for pair in pairs:
        if pair.query and pair.relevant and pair.query not in queries and pair.relevant not in relevant:
            kept.append(pair)
            queries.add(pair.query)
            relevant.add(pair.relevant)
    return kept


def _xml(content: bytes, where: str) -> ET.Element:
    try:
        return ET.fromstring(content)  # noqa: S314 -- a file of the installed data set; expat refuses entity bombs
    except ET.ParseError as error:
        raise SuiteInvalid(f"{where} is not XML: {error}") from error


def _spreadsheet(path: Path) -> list[dict[str, str]]:
    """The first sheet of an xlsx file: each row maps column letters to texts."""
    try:
        with zipfile.ZipFile(path) as archive:
            shared = _xml(archive.read("xl/sharedStrings.xml"), f"{path}: shared strings")
            sheet = _xml(archive.read("xl/worksheets/sheet1.xml"), f"{path}: first sheet")
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise DataMissing(f"{path} cannot be read as a spreadsheet: {error}") from error
    strings = ["".join(text.text or "" for text in entry.iter(f"{_SHEET}t")) for entry in shared.iter(f"{_SHEET}si")]
    rows = []
    for row in sheet.iter(f"{_SHEET}row"):
        cells = {}
        for cell in row.iter(f"{_SHEET}c"):
            value = cell.findtext(f"{_SHEET}v")
            if value is not None:
                column = cell.attrib["r"].rstrip("0123456789")
                cells[column] = strings[int(value)] if cell.get("t") == "s" else value
        rows.append(cells)
    return rows
