"""What every page shares: the frame, the content security policy, the error pages, and how figures are written."""

import pytest
from django.template.loader import get_template, render_to_string
from django.test import RequestFactory
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.views import figures
from leaderboard.views.board_sheet import whisker
from leaderboard.views.sheets import Cell, Column, Group, Sheet, address_with, harmless, sorted_sheet
from tests.factories import make_published_run, make_revision, make_suite, make_user
from tests.leaderboard.pages import blocked_by_policy, wrongly_nested

ADDRESSES = (
    "/", "/boards/family/image_to_label/", "/boards/domain/abdominal/", "/models/lab/model/", "/tasks/",
    "/tasks/medheb-test/task0/", "/methods/", "/systems/", "/analyses/", "/compare/", "/demo/", "/boards/split/held_out/", "/nosuchpage/", "/?sort=nosuch",
)  # fmt: skip


@pytest.fixture
def board(db) -> None:
    make_published_run(suite=make_suite(n_tasks=8), revision=make_revision("lab/model"))


@pytest.mark.parametrize("address", ADDRESSES)
def test_pages_need_nothing_that_the_content_security_policy_blocks(client, board, address) -> None:
    response = client.get(address)
    html = response.content.decode()
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    assert blocked_by_policy(html) == []
    assert wrongly_nested(html) == []
    assert html.count("<h1") == 1
    assert 'id="main"' in html


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_address_on_a_page_leads_somewhere(client, board, address) -> None:
    html = client.get(address).content.decode()
    links = {part.partition('"')[0] for part in html.split('href="/')[1:]}
    for link in sorted(links - {""}):
        if not link.startswith("static/"):
            assert client.get(f"/{link}".replace("&amp;", "&")).status_code < 400, link


@pytest.mark.parametrize("name", ["400", "403", "403_csrf", "404", "405", "429", "500"])
def test_error_pages_need_no_request_and_no_database(name) -> None:
    html = get_template(f"{name}.html").render()
    assert "Go to the boards" in html
    assert wrongly_nested(html) == []


def test_a_broken_view_answers_with_the_error_page(client, monkeypatch, db) -> None:
    def broken() -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr("leaderboard.views.boards.live_suites", broken)
    client.raise_request_exception = False
    response = client.get("/")
    assert response.status_code == 500
    assert "Something broke on our side" in response.content.decode()


def test_the_frame_shows_who_is_signed_in(client, db) -> None:
    user = make_user("grace")
    assert "Sign in" in client.get("/methods/").content.decode()
    client.force_login(user)
    html = client.get("/methods/").content.decode()
    assert "Signed in as grace" in html
    assert reverse("account") in html


@pytest.mark.parametrize(
    ("template", "context", "expected"),
    [
        ("notice", {"kind": "error", "text": "<b>"}, "&lt;b&gt;"),
        ("status", {"state": "failed", "label": "Failed"}, 'class="pill failed"'),
        ("progress", {"done": 12, "total": 24, "label": "task 12 of 24"}, '<progress value="12" max="24"'),
        (
            "empty",
            {"title": "T", "text": "x", "href": "/a/", "label": "Go"},
            '<a class="button quiet" href="/a/">Go</a>',
        ),
        ("button", {"label": "Send"}, '<button class="button " type="submit">Send</button>'),
    ],
)
def test_components(template, context, expected) -> None:
    assert expected in render_to_string(f"components/{template}.html", context)


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "–"), (0, "0"), (999, "999"), (12_345, "12 k"), (151_277_313, "151 M"), (8_100_000_000, "8.1 B")],
)
def test_quantities(value, words) -> None:
    assert figures.quantity(value) == words


def test_shares_and_intervals_are_written_in_percent() -> None:
    assert figures.percent(0.461) == "46.1"
    assert figures.percent(None) == "–"
    assert figures.interval(0.451, 0.4704) == "45.1 to 47.0"
    assert figures.half_width(0.451, 0.471) == "±1.0"
    assert figures.half_width(None, None) == ""


@pytest.mark.parametrize(("value", "step"), [(0.0, 0), (0.024, 0), (0.026, 1), (0.5, 10), (1.0, 20)])
def test_heat_has_twenty_one_steps(value, step) -> None:
    assert figures.heat(value) == f"heat heat-{step}"


@pytest.mark.parametrize(("values", "top"), [([], 0.1), ([0.05], 0.1), ([0.3], 0.3), ([0.31], 0.4), ([1.0], 1.0)])
def test_an_axis_ends_at_a_full_tenth(values, top) -> None:
    assert figures.axis_top(values) == top


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.1, 0.4, 1.0]))
def test_a_whisker_is_visible_and_stays_on_its_axis(one, other, top) -> None:
    drawn = whisker(min(one, other), max(one, other), top=top, chance=one)
    assert drawn.width >= 1
    assert 0 <= drawn.start <= drawn.start + drawn.width <= 100.01
    assert 0 <= drawn.chance <= 99


def test_a_whisker_stands_where_the_interval_is() -> None:
    drawn = whisker(0.1, 0.3, top=0.4)
    assert (drawn.start, drawn.width) == (25.0, 50.0)
    assert whisker(None, None, top=0.4) is None


@given(st.lists(st.none() | st.floats(0, 1)), st.booleans())
def test_sorting_keeps_every_row_and_puts_unknown_values_last(values, downwards) -> None:
    rows = tuple((Cell("", value, (value,)),) for value in values)
    sheet = Sheet("", (Column("x", "X", "", ("x",)),), (Group("", rows),))
    request = RequestFactory().get("/", {"sort": "-x" if downwards else "x"})
    found = [row[0].sort for row in sorted_sheet(sheet, request=request).groups[0].rows]
    known = [value for value in values if value is not None]
    assert found == sorted(known, reverse=downwards) + [None] * (len(values) - len(known))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_texts_that_start_a_formula_are_made_harmless(text) -> None:
    assert harmless(text) == f"'{text}"


def test_numbers_and_other_texts_are_left_alone() -> None:
    assert [harmless(value) for value in (-1.5, None, "a=b", "")] == [-1.5, None, "a=b", ""]


def test_an_address_keeps_its_parameters_and_drops_empty_ones() -> None:
    parameters = RequestFactory().get("/", {"q": "", "suite": "a b", "format": "csv"}).GET
    assert address_with(parameters, sort="-x") == "?suite=a+b&sort=-x"
    assert address_with(parameters, suite="") == "?"
