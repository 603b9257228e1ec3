"""The documentation builds as a site in which every link leads somewhere, and its generated pages are up to date."""

import re
from pathlib import Path

import pytest
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from documentation.__main__ import GENERATED
from documentation.findings import codes_in_code, read_remedies
from documentation.hooks import DOCUMENTS, ROOT
from documentation.import_graph import imports
from evaluation.vocabulary import EmbedderFamily


def build_site(folder: Path, **changes: object) -> Path:
    config = load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(folder), **changes)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    return folder


def test_the_site_builds_without_a_broken_link_and_asks_nobody_for_anything(tmp_path: Path) -> None:
    site = build_site(tmp_path / "site")
    pages = sorted(site.glob("*.html"))
    assert {page.stem for page in pages} >= {Path(page).stem for page in DOCUMENTS.values()}
    for page in pages:
        loaded = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(https?:[^\s\">]+)", page.read_text("utf-8")
        )
        assert loaded == [], page.name


@pytest.mark.parametrize("broken", ["[gone](gone.md)", "[gone](reading.md#gone)", "[gone](../evaluation/gone.py)"])
def test_a_broken_link_is_an_error(tmp_path: Path, broken: str) -> None:
    documents = tmp_path / "docs"
    documents.mkdir()
    (documents / "index.md").write_text(f"# Index\n\n[whole](reading.md#here), {broken}\n", encoding="utf-8")
    (documents / "reading.md").write_text("# Reading\n\n## Here\n", encoding="utf-8")
    with pytest.raises(Abort):
        build_site(tmp_path / "site", docs_dir=str(documents), nav=None, hooks=[])


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_what_is_made_from_the_code_is_up_to_date(name: str) -> None:
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert written == GENERATED[name](), f"docs/{name} is out of date: run `make documents`"


def test_every_code_that_the_program_answers_with_has_a_remedy() -> None:
    explained = [code for group in read_remedies().values() for code in group["codes"]]
    assert sorted(explained) == sorted(codes_in_code())


def test_the_picture_agrees_with_the_contracts() -> None:
    parts = imports()
    assert "evaluation.embedders" in parts["evaluation.embedding"]
    assert "leaderboard.queue" in parts["leaderboard.services"]
    assert parts["evaluation.errors"] == frozenset()
    across = {part for part, found in parts.items() for other in found if part.split(".")[0] != other.split(".")[0]}
    assert across == {"workers"}


def test_every_column_of_a_board_is_explained() -> None:
    explained = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
    views = ROOT / "leaderboard" / "views"
    names = ("board_sheet.py", "probe_board_sheets.py", "rank_cells.py", "model_columns.py")
    text = "\n".join((views / name).read_text("utf-8") for name in names if (views / name).exists())
    titles = set(re.findall(r"\w\(\s*\"[\w-]+\",\s*\"([A-Z][^\"]*)\",\s*f?\"", text))
    titles |= set(re.findall(r"title=\"([^\"]+)\",\n", text))
    titles |= {"Mean of families", "Mean of tasks"}
    assert titles >= {"Rank", "Model", "CV", "Above chance", "Size", "Dim.", "Licence", "Told apart", "Stops at"}
    assert sorted(title for title in titles if f"| {title} |" not in explained) == []


def test_every_family_of_models_is_in_the_page_for_submitters() -> None:
    page = (ROOT / "docs" / "submitting.md").read_text(encoding="utf-8")
    assert [family for family in EmbedderFamily if f"`{family}`" not in page] == []


def test_the_citation_and_the_forms_are_what_their_readers_expect() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert f'version = "{citation["version"]}"' in project
    assert f'license = "{citation["license"]}"' in project
    for form in ROOT.glob(".github/ISSUE_TEMPLATE/*.yml"):
        content = yaml.safe_load(form.read_text(encoding="utf-8"))
        if form.stem == "config":
            continue
        assert {"name", "description", "body"} <= content.keys(), form.name
        names = [part["id"] for part in content["body"] if part["type"] != "markdown"]
        assert len(names) == len(set(names)) > 0, form.name
