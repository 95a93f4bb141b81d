"""Texts without placeholders stay as they are: our own sentences and the sets of ../shared; docs/surrogate-readings.md has the counts."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml

from piiloom.surrogates.placeholders import Finder, auto_mapping
from tests.longer import case_by_case
from tests.shared_files import needs_whole, shared
from tests.surrogates.placeholders.unredacted import languages, ordinary, sentences

_ROOT: Final = Path(__file__).parents[3]
_PAGE: Final = _ROOT / "docs/surrogate-readings.md"
_SLOT: Final = re.compile(r"\{[^{}]*\}|<[^<>]*\|[^<>]*>")  # of a template of ours
_FEWEST: Final = 300


class Counts(NamedTuple):
    """Texts of a set, and how many places of them are replaced."""

    texts: int
    replaced: int


def replaced(texts: Sequence[str], language: str = "") -> list[str]:
    """Return what is replaced in a corpus of *texts*, with some text around."""
    finder = Finder(auto_mapping(texts, language))
    return [text[max(0, one.start - 25) : one.end + 25] for text in texts for one in finder.find(text).mentions]


def _strings(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        if " " in data:
            yield _SLOT.sub("Kim", data)
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _strings(value)


def _of_yaml(folder: Path) -> list[str]:
    return [text for path in sorted(folder.rglob("*.yaml")) for text in _strings(yaml.safe_load(path.read_text("utf-8")))]


def _of_json(path: Path, *names: str) -> list[str]:
    text = path.read_text("utf-8")
    rows = json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    return [row[name] for row in rows for name in names if isinstance(row.get(name), str)]


def _shared_sets() -> dict[str, list[str]]:
    data = shared("data")
    with next((data / "bitext_intents").glob("*.csv")).open(encoding="utf-8-sig", newline="") as file:
        bitext = [row["utterance"] for row in csv.DictReader(file)]
    fields = ("context", "question", "situation", "additional_facts", "noise")
    return {
        "capid": [text for path in sorted((data / "capid").glob("*.jsonl")) for text in _of_json(path, *fields)],
        "bitext": bitext,
        "sgd": _of_json(data / "sgd/turns.jsonl", "text"),
        "presidio_research": _of_json(data / "presidio_research/generated_small.json", "full_text"),
        "obi_ehr_notes": _of_json(data / "obi_ehr_notes/notes.jsonl", "text"),
    }


def _in_page(title: str) -> dict[str, Counts]:
    """Return the counts in the table of the page that begins with *title*."""
    table = _PAGE.read_text("utf-8").partition(f"| {title} |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]
    return {name: Counts(int(texts.replace(",", "")), int(count)) for name, texts, count in rows}


def _counts(texts: Sequence[str], language: str = "") -> Counts:
    return Counts(len(texts), len(replaced(texts, language)))


def test_no_title_initial_or_abbreviation_is_replaced() -> None:
    for language in languages():
        texts = sentences(language)
        assert len(texts) >= _FEWEST
        documents = ["\n".join(texts[first::60]) for first in range(0, 60, 12)]
        assert replaced(documents, language) == []


@pytest.mark.long
def test_the_table_of_our_own_sentences_is_as_counted() -> None:
    assert {language: _counts(sentences(language), language) for language in languages()} == _in_page("own sentences")
    for language in languages():
        assert [found for text in sentences(language) for found in replaced([text])] == []


@pytest.mark.long
@needs_whole
def test_the_table_of_other_texts_is_as_counted() -> None:
    sets = _shared_sets()
    sets |= {f"carriers {path.name}": _of_yaml(path) for path in sorted((_ROOT / "piiloom/detection/benchmark/data/carriers").iterdir())}
    sets |= {f"stories {path.name}": _of_yaml(path) for path in sorted((_ROOT / "taxonomy/banks").iterdir())}
    assert {name: _counts(texts) for name, texts in sets.items()} == _in_page("other texts")


@case_by_case(
    ("text", "language"),
    [
        ("Le témoin M. Dupont a parlé.", "fr"),
        ("Die Klägerin A. Sch. kam mit dem Zeugen B.\u00a0Müller.", "de"),
        ("De verdachte A. de V. is gehoord.", "nl"),
        ("Mr Y. Young came with Mr W. O. Haskell and Mme G. Le Brun.", "en"),
        ("MM. Y. et Z. Brunel sont venus.", "fr"),
        ("The international bank account number (IBAN) is printed there.", "en"),
        ("Die Meier & B. GmbH hat Klage erhoben.", "de"),
    ],
)
def test_a_text_without_a_placeholder_stays(text: str, language: str) -> None:
    for corpus in ([text], [text] * 5):
        assert replaced(corpus, language) == []


def test_ordinary_signs_are_neither_replaced_nor_listed() -> None:
    together = Finder(auto_mapping(ordinary(), "en"))
    for text in ordinary():
        for finder in (together, Finder(auto_mapping([text]))):
            found = finder.find(text)
            assert [text[one.start : one.end] for one in (*found.mentions, *found.unknown)] == []


def test_initials_are_a_name_only_where_letters_name_people() -> None:
    chain = "El acusado J. L. M. no vino."
    assert replaced([chain] * 5, "es") == []
    assert [one.why for one in Finder(auto_mapping([chain], "es")).find(chain).unknown] == ["too unsure to be used"]
    others = ["El testigo A. declaró que la Sra. B. y el Sr. C. estaban allí."] * 3
    found = Finder(auto_mapping([*others, chain, chain, chain], "es")).find(chain)
    assert [chain[one.start : one.end] for one in found.mentions] == ["J. L. M."]


def test_a_placeholder_before_a_name_is_filled_with_its_dot() -> None:
    text = "Der Zeuge B. kam. Dann sprach der Zeuge B. Er sah den Zeugen C. Müller."
    finder = Finder(auto_mapping([text] * 3, "de"))
    assert [text[one.start : one.end].rstrip(".") for one in finder.find(text).mentions] == ["B", "B"]


def test_a_rule_that_needs_its_neighbours_matches_nothing_without_them() -> None:
    texts = ["Die K. GmbH klagt.", "A man who was X years old paid $X,XXX and $X."]
    others = "Der Anwalt K. Müller kam, z. K. auch. The X in it cost X,XXX, and model X is K. no more."
    assert replaced([*texts, others], "de") != []
    assert Finder(auto_mapping([*texts, others], "de")).find(others).mentions == []
