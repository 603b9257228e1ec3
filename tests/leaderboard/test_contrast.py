"""Heat can be read by everybody: its figures have contrast, and its lightness alone carries the value."""

import re
from math import cos, radians, sin
from pathlib import Path

import pytest
from django.contrib.staticfiles.finders import find

from leaderboard.views.figures import HEAT_STEPS

ENOUGH = 4.5
"""WCAG 2.2, success criterion 1.4.3, for text of any size."""

# From OKLab to linear sRGB: Ottosson, A perceptual color space for image processing, 2020.
TO_LMS = ((1, 0.3963377774, 0.2158037573), (1, -0.1055613458, -0.0638541728), (1, -0.0894841775, -1.2914855480))
TO_RGB = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.7076147010),
)
LUMINANCE = (0.2126, 0.7152, 0.0722)


def product(matrix, vector) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def oklch_luminance(lightness: float, chroma: float, hue: float) -> float:
    lab = (lightness, chroma * cos(radians(hue)), chroma * sin(radians(hue)))
    linear = product(TO_RGB, [part**3 for part in product(TO_LMS, lab)])
    return sum(weight * min(1.0, max(0.0, part)) for weight, part in zip(LUMINANCE, linear, strict=True))


def hex_luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip(LUMINANCE, linear, strict=True))


def contrast(one: float, other: float) -> float:
    high, low = max(one, other), min(one, other)
    return (high + 0.05) / (low + 0.05)


def test_the_arithmetic_knows_white_black_and_red() -> None:
    assert oklch_luminance(1, 0, 0) == pytest.approx(1, abs=1e-3)
    assert oklch_luminance(0, 0, 0) == 0
    # #ff0000 is oklch(62.796% 0.25768 29.234)
    assert oklch_luminance(0.62796, 0.25768, 29.234) == pytest.approx(hex_luminance("#ff0000"), abs=2e-3)
    assert contrast(hex_luminance("#ffffff"), hex_luminance("#777777")) == pytest.approx(4.48, abs=0.01)


def rules(theme: str) -> list[tuple[float, str]]:
    """Background luminance and text colour of every step, as the style sheet says for a theme."""
    sheet = Path(find("site.css")).read_text(encoding="utf-8").partition("/* Heat:")[2].partition(".scale {")[0]
    part = sheet.partition("@media")[0] if theme == "light" else sheet.partition(":root[data-theme=dark]")[2]
    formula = re.search(
        r"oklch\(calc\(([\d.]+)% ([+-]) var\(--heat\) \* ([\d.]+)%\) calc\(([\d.]+) \+ var\(--heat\) \* ([\d.]+)\) (\d+)\);"
        r" color: (#[0-9a-f]{6})",
        part,
    )
    base, sign, step, chroma, more, hue, text = formula.groups()
    flipped = re.search(r"((?:\.heat-\d+,? ?)+)\)? \{ color: (#[0-9a-f]{6})", part)
    steps, other_text = {int(number) for number in re.findall(r"\d+", flipped[1])}, flipped[2]
    return [
        (
            oklch_luminance(
                (float(base) + (1 if sign == "+" else -1) * heat * float(step)) / 100,
                float(chroma) + heat * float(more),
                float(hue),
            ),
            other_text if heat in steps else text,
        )
        for heat in range(HEAT_STEPS + 1)
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_have_contrast_on_every_step(theme: str) -> None:
    for heat, (ground, text) in enumerate(rules(theme)):
        assert contrast(ground, hex_luminance(text)) >= ENOUGH, f"{theme}, step {heat}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lightness_alone_tells_steps_apart(theme: str) -> None:
    """So the scale reads the same to the colour-blind and in grey print."""
    grounds = [ground for ground, _ in rules(theme)]
    ordered = sorted(grounds, reverse=theme == "light")
    assert grounds == ordered
    assert len(set(grounds)) == HEAT_STEPS + 1
    assert contrast(grounds[0], grounds[-1]) > ENOUGH


def test_both_ways_of_choosing_the_dark_theme_have_the_same_scale() -> None:
    sheet = Path(find("site.css")).read_text(encoding="utf-8")
    chosen = re.search(r":root\[data-theme=dark\] \.heat \{ (background: [^}]+)\}", sheet)[1]
    followed = re.search(r":root:not\(\[data-theme=light\]\) \.heat \{ (background: [^}]+)\}", sheet)[1]
    assert chosen == followed
