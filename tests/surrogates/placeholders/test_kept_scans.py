"""What the survey scanned is what the finder would scan, or is not used."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from piiloom.surrogates.placeholders.finder import Finder, KeptScans
from piiloom.surrogates.placeholders.mapping import Mapping
from piiloom.surrogates.placeholders.scanning import scanner_of
from piiloom.surrogates.placeholders.survey import survey_of
from piiloom.surrogates.placeholders.vocabulary import LANGUAGES

_PIECES = st.sampled_from(
    [
        "[NAME]",
        "<CITY>",
        "M. X",
        "M. Dupont",
        "D. Y ",
        "D. L. M",
        "Dr. X and Y",
        "Mme [L] [B]",
        "XXXX",
        "XX/XX/2019",
        "she said that",
        "M. ",
        "(AGE)",
        "J***",
        ", ",
        ". ",
    ]
)
_TEXTS = st.lists(st.lists(_PIECES, max_size=12).map(" ".join), min_size=1, max_size=5)


@given(_TEXTS, st.sampled_from(["en", "fr", "es", "de", ""]), st.sampled_from([("en",), ("en", "fr"), ("es", "en"), LANGUAGES]))
def test_the_finder_finds_the_same_with_what_was_scanned_before(texts: list[str], language: str, languages: tuple[str, ...]) -> None:
    kept = KeptScans()
    mapping = survey_of(texts, language, kept).mapping()
    assert [Finder(mapping, kept=kept).find(text) for text in texts] == [Finder(mapping).find(text) for text in texts]
    other = Mapping(languages=languages)
    assert [Finder(other, kept=kept).find(text) for text in texts] == [Finder(other).find(text) for text in texts]


def test_a_text_is_scanned_anew_where_a_title_of_another_language_may_matter() -> None:
    kept, french, english = KeptScans(), scanner_of(None, ("fr", "en")), scanner_of(None, ("en",))
    plain, titled = "He met <NAME> in <CITY>.", "M. X met <NAME>."
    plain_found, titled_found = kept.scan(plain, french), kept.scan(titled, french)
    assert kept.scan_of(french)(titled) is titled_found
    assert kept.scan_of(english)(plain) is plain_found
    assert list(kept.scan_of(english)(titled)) == list(english.scan(titled)) != titled_found


def test_other_grammars_are_scanned_anew() -> None:
    kept, square = KeptScans(), scanner_of(("square",), LANGUAGES)
    found = kept.scan("[NAME] and <CITY>", scanner_of(None, LANGUAGES))
    assert len(found) == 2
    assert [one.literal for one in kept.scan_of(square)("[NAME] and <CITY>")] == ["[NAME]"]


def test_what_does_not_fit_is_scanned_anew() -> None:
    kept, scanner = KeptScans(room=250), scanner_of(None, LANGUAGES)
    first, second = kept.scan("[NAME]", scanner), kept.scan("[CITY] and [CITY]", scanner)
    assert kept.scan_of(scanner)("[NAME]") is first
    again = kept.scan_of(scanner)("[CITY] and [CITY]")
    assert again is not second
    assert list(again) == second


def test_a_very_long_text_is_scanned_anew() -> None:
    kept, scanner, long = KeptScans(), scanner_of(None, LANGUAGES), "[NAME] and so on " * 6_000
    found = kept.scan(long, scanner)
    assert len(found) == 6_000
    assert kept.scan_of(scanner)(long) is not found


def test_another_scanner_begins_anew() -> None:
    kept, square = KeptScans(), scanner_of(("square",), LANGUAGES)
    kept.scan("[CITY]", scanner_of(None, LANGUAGES))
    short = kept.scan("[NAME]", square)
    assert kept.scan_of(square)("[NAME]") is short
    assert list(kept.scan_of(square)("[CITY]")) == list(square.scan("[CITY]"))


def test_another_process_gets_none_of_it() -> None:
    kept, scanner = KeptScans(), scanner_of(None, LANGUAGES)
    kept.scan("Call [NAME] at home", scanner)
    sent = pickle.dumps(kept)
    assert b"Call" not in sent
    assert list(pickle.loads(sent).scan_of(scanner)("Call [NAME] at home")) == list(scanner.scan("Call [NAME] at home"))  # noqa: S301
