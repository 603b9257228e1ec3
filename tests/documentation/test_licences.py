"""What is installed may be used, and nothing on the site asks for the site's own source."""

import pytest

from documentation.licences import Licence, licences, site_names

WEAK = {"certifi", "orjson", "psycopg", "psycopg-binary", "tqdm"}
"""Used as they are, so that nothing has to be published; psycopg is the only driver of Postgres that Django supports."""


@pytest.mark.parametrize(
    ("text", "binds"),
    [
        ("MIT", False),
        ("GPL-3.0-or-later", True),
        ("AGPL-3.0-only", True),
        ("GNU General Public License v3 (GPLv3)", True),
        ("GNU Affero General Public License v3", True),
        ("LGPL-3.0-only", False),
        ("GNU Lesser General Public License v3 (LGPLv3)", False),
        ("MPL-2.0 AND MIT", False),
        ("GPL-2.0-only OR MIT", False),
    ],
)
def test_licences_that_bind_the_whole_program_are_known(text: str, *, binds: bool) -> None:
    assert Licence("package", text, on_site=True).binds_changes is binds


def test_no_dependency_wants_the_whole_program_under_its_own_terms() -> None:
    found = licences()
    assert [one.package for one in found if one.binds_changes] == []
    assert {one.package for one in found if one.binds_changes_of_itself} <= WEAK
    assert [one.package for one in found if "UNKNOWN" in one.text] == []


def test_the_site_needs_django_and_no_model_framework() -> None:
    names = site_names()
    assert {"django", "psycopg", "psycopg-binary", "kombu"} <= names
    assert names.isdisjoint({"torch", "transformers", "gradio"})
