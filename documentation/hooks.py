"""Puts the documents that stand outside of docs/ on the site, so that each is written once.

MkDocs calls these functions by their names. Links work in a checkout and on the site: one to a document that is a page
becomes a link to that page, one to any other file of the repository becomes the file's name. A link to nothing is left
as it is, and `mkdocs build --strict` fails because of it.
"""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS_FOLDER = "docs"

DOCUMENTS = {
    "README.md": "start.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "evaluation/schemas/README.md": "result-files.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
}
"""Documents outside of docs/, by their path in the repository, and the pages that they become."""

_PAGES = {page: document for document, page in DOCUMENTS.items()}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each document outside of docs/."""
    for document, page in DOCUMENTS.items():
        files.append(File.generated(config, page, content=(ROOT / document).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages, outside of code."""
    source = page.file.src_uri
    origin = PurePosixPath(_PAGES.get(source, f"{DOCUMENTS_FOLDER}/{source}")).parent
    parts = _CODE.split(markdown)
    parts[::2] = [_LINK.sub(lambda link: _link_on_site(link, origin, source), part) for part in parts[::2]]
    return "".join(parts)


def _link_on_site(link: re.Match[str], origin: PurePosixPath, source: str) -> str:
    mark, text, target, anchor = link.groups(default="")
    path = normpath(str(origin / target))
    page = DOCUMENTS.get(path) or path.removeprefix(f"{DOCUMENTS_FOLDER}/")
    if path in DOCUMENTS or path != page:
        return f"{mark}[{text}]({relpath(page, str(PurePosixPath(source).parent))}{anchor})"
    if (ROOT / path).exists():
        return text if path in text else f"{text} (`{path}`)"
    return link.group()
