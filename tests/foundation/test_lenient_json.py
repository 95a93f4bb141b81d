"""JSON as language models spell it: what is whole is read, nothing is completed, and no text breaks the reader."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.lenient_json import read_leniently
from tests.longer import case_by_case

SCALARS = st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=12)
OBJECTS = st.dictionaries(st.text(max_size=6), SCALARS, max_size=4)
ENTRY = {"value": "the night nurse", "type": "occupation"}


@case_by_case(
    ("reply", "values"),
    [
        ('Here you are:\n```json\n[{"a": 1}]\n```\nI hope {that} helps.', [[{"a": 1}]]),
        ('[{"a": 1,}, {"b": 2},]', [[{"a": 1}, {"b": 2}]]),
        ('[{"a": 1} {"b": 2}]', [[{"a": 1}, {"b": 2}]]),
        ('{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        ("[{'a': 'it's here', b: True, \"c\": None}]", [[{"a": "it's here", "b": True, "c": None}]]),
        ('[{"a": "the "old" mill", "b": 2.5}]', [[{"a": 'the "old" mill', "b": 2.5}]]),
        ("[{“a”: “Łódź”}]", [[{"a": "Łódź"}]]),
        ('[{"a": "two\nlines"}]', [[{"a": "two\nlines"}]]),
        ('<think>maybe [{"a": 1}]</think>\n[]', [[]]),
        ('see [1]: [{"a": 1}, {"b" 2}, {"c": 3}]', [[1], {"a": 1}, {"c": 3}]),
        ("Nothing personal here.", []),
        ('"asthma"', []),
        ("[" * 3000, []),
        ('{"a" ' * 1000, []),
    ],
)
def test_spellings(reply: str, values: list[Any]) -> None:
    assert read_leniently(reply).values == values


def test_of_a_reply_that_ends_too_early_whole_entries_stay() -> None:
    whole = json.dumps([ENTRY, ENTRY])
    ends = [at + 1 for at, character in enumerate(whole) if character == "}"]
    for cut in range(1, len(whole)):
        read = read_leniently(whole[:cut])
        assert read.cut_off, cut
        assert read.values == [[ENTRY] * sum(end <= cut for end in ends)], cut


def test_half_a_surrogate_is_no_character() -> None:
    assert read_leniently(r'[{"a": "\ud83d\ude00 \ud83d"},]').values == [[{"a": "😀 \ufffd"}]]
    assert read_leniently(r'[{"a": "\ud83d\ude00 \ud83d"}]').values == [[{"a": "😀 \ufffd"}]]


@given(st.lists(OBJECTS, max_size=4), st.sampled_from(("{}", "```\n{}\n```", "So: {}", "{},")))
def test_what_json_says_is_read_as_json_reads_it(entries: list[dict[str, Any]], around: str) -> None:
    read = read_leniently(around.replace("{}", json.dumps(entries)))
    assert read == ([entries], False, 0)


@given(st.text(st.sampled_from("[]{}\"',:\\ut“”`a1 \n"), max_size=60))
def test_any_text_is_read_to_its_end(text: str) -> None:
    for value in read_leniently(text).values:
        assert json.dumps(value, ensure_ascii=False).encode()
