"""What scripts add to a chart that is whole without them: words at the pointer, and a legend that hides lines."""

from pathlib import Path

from django.contrib.staticfiles.finders import find
from django.template.loader import render_to_string
from playwright.sync_api import Page

from leaderboard.views.profile_chart import ProfileScore, profile_chart

FAMILIES = {"a": "Image to label", "b": "Text to text", "c": "Region"}
FIRST = {"a": ProfileScore(0.8, 0.7, 0.9), "b": ProfileScore(0.6), "c": ProfileScore(0.4)}
SECOND = {"a": ProfileScore(0.5), "b": ProfileScore(0.5), "c": ProfileScore(0.5)}


def shown(page: Page, *, with_script: bool) -> None:
    chart = profile_chart(FAMILIES, [("first", FIRST), ("second", SECOND)], title="t")
    figure = render_to_string("components/profile.html", {"chart": chart})
    script = f"<script>{Path(find('charts.js')).read_text(encoding='utf-8')}</script>" if with_script else ""
    style = f"<style>{Path(find('site.css')).read_text(encoding='utf-8')}</style>"
    page.set_content(f"<!doctype html><html lang=en><head>{style}{script}</head><body>{figure}</body></html>")


def test_without_scripts_every_line_and_its_words_are_there(page: Page) -> None:
    shown(page, with_script=False)
    assert page.locator("g[data-series]").count() == 2
    assert page.locator("circle > title").first.text_content() == "first, Image to label: 80.0 (70.0 to 90.0)"
    assert page.locator("button").count() == 0


def test_the_legend_hides_and_shows_a_line(page: Page) -> None:
    shown(page, with_script=True)
    button = page.get_by_role("button", name="second")
    line = page.locator('g[data-series="1"]')
    assert (button.get_attribute("aria-pressed"), line.is_visible()) == ("true", True)
    button.click()
    assert (button.get_attribute("aria-pressed"), line.is_visible()) == ("false", False)
    assert page.locator('g[data-series="0"]').is_visible()
    button.focus()
    page.keyboard.press("Enter")
    assert line.is_visible()


def test_a_mark_says_what_it_is_while_the_pointer_is_on_it(page: Page) -> None:
    shown(page, with_script=True)
    tip = page.locator(".tip")
    assert tip.is_hidden()
    page.locator('g[data-series="0"] circle').first.hover()
    assert tip.text_content() == "first, Image to label: 80.0 (70.0 to 90.0)"
    assert tip.is_visible()
    page.mouse.move(0, 0)
    assert tip.is_hidden()
