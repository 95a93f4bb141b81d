"""The residual scan finds what nobody put in, and nothing of what was put in."""

from __future__ import annotations

import itertools
import random

from piiloom.surrogates.documents import Placed
from piiloom.surrogates.leakage import residual
from piiloom.surrogates.leakage.residual import residuals
from tests.longer import case_by_case

NAMES = {"maria", "john", "priya"}


def placed(text, value):
    start = text.index(value)
    return Placed(0, 1, start, start + len(value), "person", "name", None, "p1", "")


@case_by_case(
    ("text", "why", "value"),
    [
        ("Call me at jo@mail.org soon", "email", "jo@mail.org"),
        ("She saw Dr. Kumar today", "titled", "Kumar"),
        ("de heer en mevrouw Jansen", "titled", "Jansen"),
        ("Hi, my name is Tom and", "told", "Tom"),
        ("La parole est à Mme Dupont, avocate", "titled", "Dupont"),
        ("El señor y la Señora Núñez", "titled", "Núñez"),
        ("La Signora Bianchi è qui", "titled", "Bianchi"),
        ("Det sade Fru Lind igår", "titled", "Lind"),
        ("Guten Tag, mein Name ist Karl und", "told", "Karl"),
        ("Bonjour, je m’appelle Luc et", "told", "Luc"),
        ("Hola, me llamo Ana y", "told", "Ana"),
        ("Ciao, mi chiamo Gino e", "told", "Gino"),
        ("Hej, jag heter Nils och", "told", "Nils"),
        ("Yesterday John Whitlock came", "pair", "John Whitlock"),
        ("with Maria van den Berg there", "pair", "Maria van den Berg"),
        ("born 03/04/1987 in", "date", "03/04/1987"),
    ],
)
def test_what_is_found(text, why, value):
    found = residuals(text, [], given_names=NAMES, dates=True)
    assert [(one.why, text[one.start : one.end]) for one in found] == [(why, value)]


@case_by_case(
    "text",
    [
        "Dear all, the End.",
        "The New York deal",
        "a<b and Mr. smith",
        "Hi there Team",
        "May 2012 was wet",
        "Doctor Patient",
        "Madame Monsieur",
    ],
)
def test_what_is_not(text):
    assert residuals(text, [], given_names=NAMES) == []


def test_what_was_put_in_does_not_count():
    text = "Dr. Kumar and Dr. Osei met John Whitlock"
    found = residuals(text, [placed(text, "Kumar"), placed(text, "John Whitlock")], given_names=NAMES)
    assert [text[one.start : one.end] for one in found] == ["Osei"]


def test_findings_are_disjoint_and_in_order():
    text = "Dr. John Whitlock, mail john@mail.org, Dr. John Whitlock"
    found = residuals(text, [], given_names=NAMES)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert len(found) == 3


def test_what_stands_around_what_was_put_in_is_looked_at_by_itself():
    text = "Hi Mister Al Nuaimi, mail ann@example.org or jo@mail.org, Dr. Osei Whitlock"
    put_in = [placed(text, "Al Nuaimi"), placed(text, "ann@example.org"), placed(text, "Whitlock")]
    found = residuals(text, put_in, given_names=NAMES)
    assert [(one.why, text[one.start : one.end]) for one in found] == [("email", "jo@mail.org"), ("titled", "Osei")]


PIECES = (
    *("Dr", "Dr.", "(Mr", "Mrs.", "Judge", "mevrouw", "Sra", "my name is", "Meu nome é", "Dear", "hi", "regards,", "signed", "Nurse."),
    *("Maria", "Priya", "O'Neil", "Jean-Paul", "Élise", "Smith", "van den Berg", "They", "no", "ward", "[NAME]", ".", "\n", "x", "I"),
)


def test_nothing_is_missed_by_looking_first_whether_there_may_be_a_name(monkeypatch):
    """The cheap look before the patterns passes over no text that they find something in."""
    rng = random.Random(11)
    blanks = (" ", " ", " ", "\n", "  ", "\u00a0", " \n ", "\t", "." + " ", "", " " * 50)
    texts = ["".join(piece + rng.choice(blanks) for piece in rng.choices(PIECES, k=rng.randint(1, 9))) for _ in range(1500)]
    first = [residuals(text, [], given_names=NAMES) for text in texts]
    monkeypatch.setattr(residual, "_may_name", lambda text, names: (True, True))
    assert first == [residuals(text, [], given_names=NAMES) for text in texts]
    assert {one.why for found in first for one in found} == {"titled", "told", "pair"}
    assert sum(not found for found in first) > 300
