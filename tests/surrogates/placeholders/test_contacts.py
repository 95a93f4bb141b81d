"""A tag for any way to reach somebody is what the words before it say, and never a name; free descriptions are read or listed."""

from __future__ import annotations

import json

import pytest

from piiloom.surrogates.placeholders import Finder, auto_mapping
from tests.longer import case_by_case
from tests.shared_files import of_whole, shared

_QUESTIONS = shared("data/meqsum/questions.jsonl")


def kinds(text: str, language: str = "en") -> list[str]:
    return [mention.kind for mention in Finder(auto_mapping([text], language)).find(text).mentions]


@case_by_case(
    ("text", "language", "expected"),
    [
        ("My email is [CONTACT], my cell: [CONTACT] and my home address is [CONTACT].", "en", ["email", "phone", "address"]),
        ("Write an answer to [CONTACT] (or call [CONTACT])", "en", ["email", "phone"]),
        ("My email is [CONTACT_1] and my cell: [CONTACT_2]. Mail [CONTACT_1].", "en", ["email", "phone", "email"]),
        ("my contact is [CONTACT]", "en", ["phone"]),
        ("Reach me at [CONTACT] (mailto), or [CONTACT] (fax)", "en", ["email", "fax"]),
        ("please Email me.at\n[CONTACT]", "en", ["email"]),
        ("From: [CONTACT]\nSent: today", "en", ["email"]),
        ("Thanks, [NAME] [CONTACT]", "en", ["person", "email"]),
        ("ask the [CONTACT PERSON] or [EMERGENCY_CONTACT]", "en", ["person", "person"]),
        ("Mijn e-mailadres is [contactgegevens] en mijn telefoon [contactgegevens]", "nl", ["email", "phone"]),
        ("Meine Anschrift ist [KONTAKT] und die E-Mail [KONTAKT]", "de", ["address", "email"]),
        ("Mon courriel est [COORDONNÉES], mon téléphone [COORDONNÉES]", "fr", ["email", "phone"]),
        ("Mi correo es [CONTACTO] y mi móvil es [CONTACTO]", "es", ["email", "phone"]),
        ("O meu e-mail é [CONTATO] e a morada é [CONTATO]", "pt", ["email", "address"]),
        ("La mia mail è [CONTATTO], il cellulare [CONTATTO]", "it", ["email", "phone"]),
        ("Min e-post är [KONTAKT] och min mobil [KONTAKT]", "sv", ["email", "phone"]),
    ],
)
def test_the_words_before_a_contact_tell_its_kind(text: str, language: str, expected: list[str]) -> None:
    assert kinds(text, language) == expected


@case_by_case(
    ("tag", "kind"),
    [
        ("[my sister]", "person"),
        ("[my best friend]", "person"),
        ("[my ex boyfriend]", "person"),
        ("[our landlord]", "person"),
        ("[my old school]", "school"),
        ("[small town in Texas]", "city"),
        ("[my phone number]", "phone"),
    ],
)
def test_a_description_of_the_writer_is_read_by_its_noun(tag: str, kind: str) -> None:
    assert kinds(f"Then we thought of {tag} again, and it was late.") == [kind]


@pytest.mark.parametrize("tag", ["[my insurance]", "[our very own thing]", "[mijn dinges]"])
def test_a_description_of_the_writer_that_cannot_be_read_is_listed(tag: str) -> None:
    text = f"Then we thought of {tag} again."
    assert [text[one.start : one.end] for one in Finder().find(text).unknown] == [tag]


@pytest.mark.parametrize("text", ["he said [my emphasis]", "it was [our translation] so", "[my] house"])
def test_an_editors_remark_is_no_description(text: str) -> None:
    found = Finder().find(text)
    assert (found.mentions, found.unknown) == ([], [])


def test_no_contact_in_health_questions_is_a_name() -> None:
    """Read one by one: of the e-mail addresses some may have been phones, since nothing tells."""
    texts = [json.loads(line)["text"] for line in _QUESTIONS.read_text("utf-8").splitlines()]
    finder = Finder(auto_mapping(texts))
    found = [m.kind for text in texts if "[CONTACT]" in text for m in finder.find(text).mentions if text[m.start : m.end] == "[CONTACT]"]
    assert {kind: found.count(kind) for kind in set(found)} == of_whole(
        {"phone": 8, "email": 29, "address": 2}, {"phone": 4, "email": 17, "address": 2}
    )
