"""Text that resembles placeholders and holds none: nothing of it is filled, and hardly anything is listed."""

from __future__ import annotations

import csv
import json

import pytest

from piiloom.surrogates.placeholders import Finder, auto_mapping
from tests.longer import case_by_case
from tests.shared_files import needs_whole, shared

_DATA = shared("data")
_FINDER = Finder()
_CODE = (
    "print(f'Hello {name}, you live in {city}')",
    '    "the {name} of {date}".format(name=name, date=today)',
    "const greeting = `Hello ${name} from ${city}`;",
    "my $name = $user->{name}; print $name;",
    "SELECT 'NAME', \"AGE\" FROM people WHERE name = 'JO'",
    "@user = User.find(params[:id])",
    "row['NAME'] = person_1(name_2)",
    "x = a ** 2 * b ** 3",
    "the value of UUID4 and VERSION_2.1",
)
_PROSE = (
    "**Plan B** was ***not*** better than *Plan A*, said **Vitamin C**.",
    "What???? Really?!?!?!",
    "Well..... I do not know....",
    "Chapter one ............ 12",
    "#### A heading\n\n----\n\n##### Another\n",
    "From: Jo Smith <jo@example.com>\nTo: Ann <ann@example.org>\nSubject: Re: [list] the plan\nMessage-ID: <1234@example.com>",
    "<div class='name'><b>Name</b> &lt;b&gt; &amp; <br/></div>",
    "Dr. J. Smith, Mr. J. R. Smith, mevr. A. de Vries, Herr K. von Berg and Mrs. A. B. Jones met Malcolm X and Samuel L. Jackson.",
    "House M. D. is a series. Signed by Gregory House, M. D.",
    "It costs $5 or 10% of $20 at 5-star hotels; f*** that, said she, 2*3*4 times.",
    "See [the page](https://example.org), [Build status](https://example.org/x.svg) or [1] [2].",
    "Version 2.x, 192.168.0.1, 10-20-30, 1/2/2019, 555-1234, x-ray, X-Men, XXL, 4XL.",
    "My email is jo_smith2@example.com, my handle @jo_2, and http://example.com/a_1.",
    "The letter A, plan B, hepatitis C and I.",
    "Student union, patient care and witness accounts.",
    "in the 'USA', the \"UN\" and /etc/passwd, he said - loudly - :-) ...",
)


@case_by_case("text", [*_CODE, *_PROSE])
def test_nothing_is_filled_in_what_only_resembles_a_placeholder(text: str) -> None:
    assert [text[m.start : m.end] for m in _FINDER.find(text).mentions] == []
    assert [m.rule for m in Finder(auto_mapping([text] * 3)).find(text).mentions] == []


@case_by_case("text", _PROSE)
def test_prose_without_placeholders_has_nothing_to_list(text: str) -> None:
    assert [text[one.start : one.end] for one in _FINDER.find(text).unknown] == []


def _lines() -> list[str]:
    """Return texts of corpora that have no placeholders."""
    contexts = [json.loads(line)["context"] for line in (_DATA / "capid" / "validated_sample.jsonl").read_text("utf-8").splitlines()]
    turns = [json.loads(line)["text"] for line in (_DATA / "sgd" / "turns.jsonl").read_text("utf-8").splitlines()]
    with (_DATA / "bitext_intents" / "Bitext_Sample_Customer_Service_Training_Dataset.csv").open(encoding="utf-8", newline="") as file:
        return [*contexts, *turns, *(row["utterance"] for row in csv.DictReader(file))]


@pytest.mark.long
@needs_whole
def test_corpora_without_placeholders_are_not_flooded() -> None:
    lines = _lines()
    finder = Finder(auto_mapping(lines))
    found = [finder.find(line) for line in lines]
    assert len(lines) > 8_000
    assert (sum(len(one.mentions) for one in found), sum(len(one.unknown) for one in found)) == (0, 0)
