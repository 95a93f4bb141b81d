"""What texts tell of a person's gender."""

from __future__ import annotations

import pytest

from piiloom.surrogates.persona_assignment.groups import gender_after, gender_before, gender_cues, title_before
from tests.longer import case_by_case


def told(language, text):
    cues = gender_cues(language)
    start = text.index("@")
    return gender_before(text, start, cues) or gender_after(text, start + 1, 10**9, cues)


@case_by_case(
    ("language", "text", "gender"),
    [
        ("en", "Then @ said that she was late.", "female"),
        ("en", "Then @ lost his keys.", "male"),
        ("en", "Mrs. @ and her dog", "female"),
        ("en", "my husband @ left", "male"),
        ("en", "Mr @ told her so", "male"),
        ("en", "@ is a big boy.", "male"),
        ("en", "I met @ yesterday.", None),
        ("en", "They told @ that they were late.", None),
        ("en", "@ left. It rained. Nobody came. She was late.", None),
        ("en", "the @ is shelled", None),
        ("nl", "dat @ heeft verklaard dat hij thuis was", "male"),
        ("nl", "Mevrouw @ is verschenen", "female"),
        ("nl", "de heer @ te Utrecht", "male"),
        ("nl", "@ voert aan dat zij geen bericht kreeg", "female"),
        ("nl", "@ voert aan dat de stukken onvolledig zijn", None),
        ("pt", "A senhora @ chegou", "female"),
        ("pt", "@ disse que ele viria", "male"),
        ("pt", "@ chegou cedo", None),
    ],
)
def test_cues(language, text, gender):
    assert told(language, text) == gender


def test_a_pronoun_beyond_the_next_person_does_not_count():
    text = "@ met NAME and her sister."
    assert gender_after(text, 1, text.index("NAME"), gender_cues("en")) is None


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("@ saw them. It rained. Then he left.", None),  # "he" stands in "them", too, before the two sentence ends
        ("@ saw them. Then he left.", "male"),
        ("@man left.", "male"),  # a placeholder, and a word behind it
    ],
)
def test_a_cue_is_a_whole_word(text, gender):
    assert gender_after(text, 1, 10**9, gender_cues("en")) == gender


def test_a_part_of_a_word_is_no_cue():
    text = "Chairman Ek left; the book was hers."
    assert gender_after(text, len("Chair"), text.index("left"), gender_cues("en")) is None
    assert gender_after(text, text.index("Ek") + 2, text.index("hers") + 3, gender_cues("en")) is None
    assert gender_after(text.replace("hers", "her "), text.index("Ek") + 2, text.index("hers") + 3, gender_cues("en")) == "female"


def test_a_language_without_a_file_has_no_cues():
    assert gender_cues("xx") is None


@pytest.mark.parametrize("text", ["(Mr @)", "“Mr @”", "Mr @", "told Mr. @", "Mr.  @"])
def test_a_title_stands_at_the_beginning_or_behind_an_opening_sign(text):
    assert told("en", text) == "male"
    assert title_before(text, text.index("@"), gender_cues("en")) == "mr"


@pytest.mark.parametrize("text", ["@", " @", "the mister-@", "my wife @"])
def test_no_title_before_a_name(text):
    assert not title_before(text, text.index("@"), gender_cues("en"))


@case_by_case("language", ["en", "nl", "pt", "de", "fr", "es", "it", "sv"])
def test_professions_are_titles_that_tell_a_gender(language):
    cues = gender_cues(language)
    assert cues.professions <= {title.rstrip(".") for title in cues.titles}
