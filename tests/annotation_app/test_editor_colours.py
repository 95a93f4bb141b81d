"""Contrast as WCAG 2 counts it: every label and every word of the editor, in both themes, for every type of the palette."""

from __future__ import annotations

import re

import pytest
from editor_page import EditorPage, FakeServer, marked

from piiloom.taxonomy.own_types import OwnSubtype, OwnType, extended
from piiloom.taxonomy.value_patterns import ValueGenerator

LEAST = 4.5  # WCAG 2.1 AA, text of usual size
RELEVANCES = ("high", "low", "")
# Streamlit's own dark and light, as its theme hands them to a component.
THEMES = {
    "light": {},
    "dark": {},
    "streamlit light": {"--st-text-color": "#31333f", "--st-background-color": "#ffffff", "--st-secondary-background-color": "#f0f2f6"},
    "streamlit dark": {"--st-text-color": "#fafafa", "--st-background-color": "#0e1117", "--st-secondary-background-color": "#262730"},
}
WORDS = (".position", ".saved", ".type", ".relevance", "h2", ".count", ".check-text", ".badge")
KEYED = (".button:enabled", ".button:enabled kbd")
# Colour of the text, and all grounds beneath it from the top down; a label is painted on its mark.
MEASURE = """([selector, label]) => [...window.shadow.querySelectorAll(selector)].map((found) => {
    const style = getComputedStyle(found, label ? "::after" : null);
    const grounds = [];
    let opacity = 1;
    for (let at = found; at instanceof Element; at = at.parentElement) {
        const own = getComputedStyle(at);
        const stripe = own.backgroundImage.match(/(?:color|rgba?)\\([^)]*\\)/);
        opacity *= Number(own.opacity);
        grounds.push(stripe ? stripe[0] : own.backgroundColor);
    }
    if (label) grounds.unshift(style.backgroundColor);
    return {text: found.textContent, colour: style.color, grounds, opacity};
})"""


@pytest.fixture
def taxonomy():
    """A taxonomy with nine types more, so that every colour of the palette is used."""
    value = OwnSubtype(name="value", definition="One.", examples=("a", "b"), form="noun", generator=ValueGenerator(kind="model"))
    names = [f"own {letter}" for letter in "abcdefghi"]
    return extended(tuple(OwnType(name=name, definition="One.", subtypes=(value,), pairs=()) for name in names))


def rgba(colour: str) -> tuple[float, float, float, float]:
    numbers = [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", colour.replace("srgb", ""))]
    red, green, blue = (part if colour.startswith("color(") else part / 255 for part in numbers[:3])
    return red, green, blue, numbers[3] if len(numbers) > 3 else 1.0


def over(top: tuple[float, ...], ground: tuple[float, ...], opacity: float = 1.0) -> tuple[float, float, float]:
    share = top[3] * opacity if len(top) > 3 else opacity
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(top[:3], ground[:3], strict=True))
    return red, green, blue


def luminance(colour: tuple[float, ...]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(found: dict) -> float:
    ground: tuple[float, float, float] = (1.0, 1.0, 1.0)
    for layer in reversed(found["grounds"]):
        ground = over(rgba(layer), ground)
    text = over(rgba(found["colour"]), ground, found["opacity"])
    light, dark = sorted((luminance(text), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def too_faint(page: EditorPage, selector: str, *, label: bool = False) -> dict[str, float]:
    found = page.page.evaluate(MEASURE, [selector, label])
    assert found, selector
    return {f"{selector} {one['text']}": round(ratio, 2) for one in found if (ratio := contrast(one)) < LEAST}


@pytest.mark.parametrize(
    "theme", [pytest.param("light", marks=pytest.mark.long), pytest.param("dark", marks=pytest.mark.long), *list(THEMES)[2:]]
)
def test_labels_and_words_are_told_from_their_ground(browser, theme, taxonomy):
    types = taxonomy.types
    assert len(types) == 15 + 9
    template = " ".join(f"[[{name}{number}|{name}|{relevance}]] x" for name in types for number, relevance in enumerate(RELEVANCES))
    found = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="dark" if "dark" in theme else "light")
    page = EditorPage(found, FakeServer({"r1": marked(f"ann@example.org {template}")}, taxonomy))
    found.evaluate(
        "(theme) => Object.entries(theme).forEach(([name, colour]) => document.getElementById('host').style.setProperty(name, colour))",
        THEMES[theme],
    )
    page.press("f")
    page.type("look")
    page.press("Enter", "Tab")
    assert len(page.values()) == len(types) * len(RELEVANCES)
    faint = too_faint(page, "mark.span", label=True) | too_faint(page, "mark.span")
    for selector in (*WORDS, *KEYED):
        faint |= too_faint(page, selector)
    page.press("e")
    page.type("ann")
    page.press("Escape")
    found.close()
    assert faint == {}
