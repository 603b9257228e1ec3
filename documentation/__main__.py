"""`python -m documentation`: write the pages and pictures that are made from the code."""

from documentation.findings import findings_page
from documentation.hooks import DOCUMENTS_FOLDER, ROOT
from documentation.import_graph import PICTURE, import_graph_page, import_graph_picture
from documentation.licences import licences_page

GENERATED = {
    "findings.md": findings_page,
    "import-graph.md": import_graph_page,
    PICTURE: import_graph_picture,
    "licences.md": licences_page,
}
"""Files of docs/ that are made from the code, and what makes each."""


def main() -> None:
    """Write every generated file into docs/."""
    for name, content in GENERATED.items():
        (ROOT / DOCUMENTS_FOLDER / name).write_text(content(), encoding="utf-8")


if __name__ == "__main__":
    main()
