"""Each way of writing a placeholder is filled with the right kind or listed, wherever it stands; ordinary text is left alone."""

from __future__ import annotations

import pytest

from piiloom.surrogates.placeholders import Finder, FoundTags, auto_mapping
from tests.longer import case_by_case
from tests.surrogates.placeholders.forms import FORMS, Form

_SENTENCES = {  # nothing in them tells what stands there
    "en": (
        "We thought of {} for a while, and then it was late.",
        "There was a note about {}\nand nobody read it.",
        "{} stood on the first page of it.",
        "Nobody knew what they had to do about {}.",
    ),
    "de": (
        "Wir haben an {} gedacht, und dann war es schon zu spät.",
        "Es gab einen Zettel über {}\nund keiner hat ihn gelesen.",
        "{} stand auf der ersten Seite von dem Heft.",
        "Keiner von uns hat gewusst, was es mit der Sache ist, und auch nichts über {}.",
    ),
    "nl": (
        "Wij dachten een tijd aan {} en toen was het te laat.",
        "Er was een briefje over {}\nen niemand heeft het gelezen.",
        "{} stond op de eerste bladzijde van het schrift.",
        "Niemand wist wat er met deze zaak was, en niets over {}.",
    ),
    "fr": (
        "Nous avons pensé à {} et puis il était trop tard pour nous.",
        "Il y avait une note sur {}\net personne ne l’a lue.",
        "{} est sur la première page de ce cahier.",
        "Personne ne sait ce qui est dans cette lettre, et rien sur {}.",
    ),
}


def _written(form: Form) -> list[tuple[str, int]]:
    """Return the sentences with *form* in them, and where it stands. One dot is enough at the end."""
    written = []
    for sentence in _SENTENCES[form.language]:
        start = sentence.index("{}")
        text = sentence.replace("{}", form.text)
        written.append((text[:-1] if text.endswith(("..", "….")) else text, start))
    return written


def _outcome(form: Form, text: str, start: int, found: FoundTags) -> str:
    """Return the kind with which *form* at *start* is filled; "" if it is listed. Everything else is a fault, and told as one."""
    end = min(start + len(form.text), len(text))
    allowed = {(text[start:end]), *form.pieces}
    for mention in found.mentions:
        if mention.start < end and mention.end > start:
            piece = text[mention.start : mention.end]
            return mention.kind if piece.rstrip(".") in {one.rstrip(".") for one in allowed} else f"{mention.kind} of {piece!r}"
    listed = [text[one.start : one.end] for one in found.unknown if one.start < end and one.end > start]
    if len(listed) != 1:
        return "silent" if not listed else f"in pieces: {listed}"
    return "" if listed[0].rstrip(".") in {one.rstrip(".") for one in allowed} else f"listed as {listed[0]!r}"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.text)
def test_a_form_is_filled_with_the_right_kind_or_listed(form: Form) -> None:
    written = _written(form)
    finder = Finder(auto_mapping([written[0][0]], form.language))
    for text, start in written:
        assert _outcome(form, text, start, finder.find(text)) == (form.kind if form.sure else ""), text


@pytest.mark.parametrize("form", [form for form in FORMS if not form.sure], ids=lambda form: form.text)
def test_an_unsure_form_is_filled_with_the_right_kind_or_not_at_all_where_it_is_often(form: Form) -> None:
    written = _written(form)
    finder = Finder(auto_mapping([text for text, _ in written] * 3, form.language))
    assert {_outcome(form, text, start, finder.find(text)) for text, start in written} <= {form.kind, ""}


@case_by_case(
    ("text", "kind"),
    [
        ("My name is 'NAME' and I am late", "person"),
        ("Dear ${name}, we write to you", "person"),
        ("we spoke with ????? about it", "person"),
        ("my card number is **** 1234", "payment_card"),
        ("you can call me at ......... today", "phone"),
        ("we spoke with A**** in the street", "person"),
    ],
)
def test_the_text_around_tells_the_kind_of_an_unsure_form(text: str, kind: str) -> None:
    assert [m.kind for m in Finder(auto_mapping([text], "en")).find(text).mentions] == [kind]


def test_a_run_of_hashes_is_a_mask_inside_a_line_and_a_heading_at_its_beginning() -> None:
    text = "##### The plan\nWe thought of ##### for a while, and of #####\n#### It was late"
    found = Finder().find(text)
    assert [(one.start, text[one.start : one.end]) for one in found.unknown] == [(29, "#####"), (55, "#####")]
