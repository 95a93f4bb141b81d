"""JSON out of replies, and against schemas."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from piiloom.providers.replies import BadReply, conform, extract_json, format_name, read_reply, strict_schema
from tests.longer import case_by_case
from tests.providers.provider_calls import SCHEMA

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8), json_values, max_size=5)


@pytest.mark.long
@given(
    objects,
    st.sampled_from(
        ["{}", "  {}\n", "\ufeff{}", "```json\n{}\n```", "```\n{}\n```", "Here:\n```json\n{}\n```\nBye!", "<think>hm {{</think>{}"]
    ),
)
def test_any_object_survives_any_wrapping(value, wrapping):
    text = wrapping.replace("{}", json.dumps(value, ensure_ascii=False)).replace("{{", "{")
    assert extract_json(text) == [value]


@given(st.text(max_size=60))
def test_any_text_gives_a_value_or_a_bad_reply_that_does_not_quote_it(text):
    fault = ""
    try:
        extract_json(text)
    except BadReply as bad:
        fault = str(bad)
    assert len(text) < 12 or text not in fault


@case_by_case(
    "text",
    [
        "",
        "   ",
        "I cannot do that.",
        '{"sentence": "cut',
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": "\\ud800"}',
        '{"a": "\\u0000"}',
        "[" * 100_000,
        "The limit is 5 {tokens",
        '<think>I could say {"a": 1} here',
        'Sure: {"a": "\\u0000"}',
    ],
)
def test_what_is_not_storable_json_is_refused(text):
    with pytest.raises(BadReply):
        extract_json(text)


def test_a_fence_inside_a_string_stays():
    assert extract_json(json.dumps({"code": "```json\n{}\n```"})) == [{"code": "```json\n{}\n```"}]


_JSON = '{"sentence": "a {b}"}'


@pytest.mark.parametrize(
    "text",
    [
        _JSON,
        '{"sentence": "a {b}", "more": "</think>"}',
        f"<think>Hm.</think>{_JSON}",
        f"Hm, {{maybe}}.\n</think>\n\n{_JSON}",  # vLLM and SGLang with a template that opens the thought itself
        f"<thinking>\nHm.\n</thinking>\n{_JSON}",
        f"[THINK]Hm.[/THINK]{_JSON}",
        f"◁think▷Hm.◁/think▷{_JSON}",
        f"<seed:think>Hm.</seed:think>{_JSON}",
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{_JSON}",
        f"Here is the JSON you asked for: {_JSON} I hope that this helps!",
        f"```json\n{_JSON}\n```\nLet me know.",
        f'```\n{{"example": 1}}\n```\nand now mine\n```json\n{_JSON}\n```',
        f'{{"sentence": 3}}\n{_JSON}',
        f'{_JSON}\n{{"note": "It is short."}}',
        "{'sentence': 'a {b}',}",
    ],
)
def test_the_answer_is_found_whatever_is_around_it(text):
    assert read_reply(text, SCHEMA) == {"sentence": "a {b}"}


@case_by_case(
    ("value", "words"),
    [
        ([], "reply must be of type object"),
        ({}, "lacks 'sentence'"),
        ({"sentence": 3}, "reply.sentence must be of type string"),
        ({"sentence": None}, "reply.sentence must be of type string"),
        ({"sentence": "x", "count": "3"}, "reply.count must be of type integer"),
        ({"sentence": "x", "count": True}, "reply.count must be of type integer"),
    ],
)
def test_the_fault_names_the_place(value, words):
    with pytest.raises(BadReply, match=words):
        conform(value, SCHEMA)


def test_unknown_keys_of_a_closed_object_and_nulls_of_optional_ones_are_dropped():
    assert conform({"sentence": "x", "count": None, "extra": 1}, SCHEMA) == {"sentence": "x"}
    assert conform({"a": 1}, {"type": "object"}) == {"a": 1}


class Item(BaseModel):
    text: str
    kind: str | None = None


class Items(BaseModel):
    items: list[Item]
    level: int | str


def test_schemas_of_pydantic_models_are_followed_through_references():
    schema = Items.model_json_schema()
    assert read_reply('{"items": [{"text": "a"}], "level": "low"}', schema) == {"items": [{"text": "a"}], "level": "low"}
    with pytest.raises(BadReply, match=r"reply\.items\[1\]\.text must be of type string"):
        read_reply('{"items": [{"text": "a"}, {"text": 2}], "level": 1}', schema)
    with pytest.raises(BadReply, match=r"reply\.level fits none"):
        read_reply('{"items": [], "level": []}', schema)


def test_enumerations_and_constants():
    schema = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {"const": 1}}, "required": ["a"]}
    assert conform({"a": "x", "b": 1}, schema) == {"a": "x", "b": 1}
    with pytest.raises(BadReply, match=r"reply\.a must be one of x, y"):
        conform({"a": "z"}, schema)
    with pytest.raises(BadReply, match=r"reply\.b must be 1"):
        conform({"a": "x", "b": 2}, schema)


def assert_strict(node) -> None:
    if isinstance(node, dict):
        if "properties" in node:
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        assert not {"minLength", "maxLength", "default"} & set(node)
        for key, part in node.items():
            if key not in {"required", "enum"}:
                assert_strict(part)
    elif isinstance(node, list):
        for part in node:
            assert_strict(part)


def test_strict_schemas_are_closed_and_complete_at_every_depth():
    for schema in (SCHEMA, Items.model_json_schema()):
        assert_strict(strict_schema(schema))
    wanted = strict_schema(SCHEMA)
    assert wanted["properties"]["count"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert wanted["properties"]["sentence"] == {"type": "string"}


def test_a_property_named_like_a_keyword_is_kept():
    schema = {
        "type": "object",
        "properties": {"default": {"type": "string"}, "maxLength": {"type": "integer"}},
        "required": ["default", "maxLength"],
    }
    assert list(strict_schema(schema)["properties"]) == ["default", "maxLength"]


@given(st.text(max_size=100))
def test_format_names_are_what_the_apis_allow(name):
    made = format_name(name)
    assert 1 <= len(made) <= 64
    assert all(c.isascii() and (c.isalnum() or c in "_-") for c in made)
