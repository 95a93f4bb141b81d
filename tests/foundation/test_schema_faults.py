"""Faults of files and settings in our own words; pydantic's reach nobody."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.schema_faults import schema_faults
from piiloom.foundation.yaml_files import load_yaml
from piiloom.generation.settings.setting_checks import make_config, read_config
from tests.longer import case_by_case

PYDANTIC = re.compile(
    "Input should|Extra inputs|Field required|[Uu]nable to parse|type=|Value error|should have at|valid (integer|string|list|dict)"
)
# What people write themselves: run files, banks, mappings, prices and models, rows.
OF_USERS = [
    ("piiloom.generation.settings.configuration", "RunConfig"),
    ("piiloom.taxonomy.bank_checks", "BankFile"),
    ("piiloom.surrogates.placeholders.mapping", "_MappingFile"),
    ("piiloom.providers.prices", "ModelBook"),
    ("piiloom.corpus.formats.native_rows", "NativeRow"),
]
RUBBISH: list[Any] = [None, True, -1, 10**30, 0.5, float("nan"), "", "zzz", [], [None], [[1]], {}, {"zzz": 1}, {1: 2}, [{"zzz": {}}]]


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    colour: Literal["red", "blue"] = "red"
    size: int = Field(default=1, ge=1, le=9)
    tags: list[str] = Field(default=["a"], min_length=1, max_length=2)
    label: str = Field(default="x", min_length=1, pattern="[a-z]+")

    @field_validator("label")
    @classmethod
    def _no_spam(cls, label: str) -> str:
        if label == "spam":
            raise ValueError("is not wanted")
        return label


class Tree(BaseModel):
    model_config = ConfigDict(extra="forbid")

    leaves: list[str | Leaf] = []
    named: dict[Literal["oak", "elm"], Leaf | None] = {}
    height: float


def said(model: type[BaseModel], data: Any, **more: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data)
    return [fault.said("the document") for fault in schema_faults(caught.value, model, **more)]


@case_by_case(
    ("data", "line"),
    [
        ({"heigth": 1, "height": 1}, "unknown key 'heigth'; did you mean height?"),
        ({"zebra": 1, "height": 1}, "unknown key 'zebra'; known: height, leaves, named"),
        ({}, "height: is missing"),
        ({"height": "tall"}, "height: must be a number"),
        (None, "the document: must have keys and values"),
        ({"height": 1, "leaves": "x"}, "leaves: must be a list"),
        ({"height": 1, "named": {"oak": {"colur": "red"}}}, "named.oak: unknown key 'colur'; did you mean colour?"),
        ({"height": 1, "named": {"oak": {"colour": "green"}}}, "named.oak.colour: must be 'red' or 'blue'"),
        ({"height": 1, "named": {"oak": {"size": 0}}}, "named.oak.size: must be at least 1"),
        ({"height": 1, "named": {"oak": {"size": 10}}}, "named.oak.size: must be at most 9"),
        ({"height": 1, "named": {"oak": {"size": "3"}}}, "named.oak.size: must be a whole number"),
        ({"height": 1, "named": {"oak": {"tags": []}}}, "named.oak.tags: must not be empty"),
        ({"height": 1, "named": {"oak": {"tags": ["a", "b", "c"]}}}, "named.oak.tags: must have at most 2 entries"),
        ({"height": 1, "named": {"oak": {"tags": [1]}}}, "named.oak.tags[0]: must be text"),
        ({"height": 1, "named": {"oak": {"label": ""}}}, "named.oak.label: must not be empty"),
        ({"height": 1, "named": {"oak": {"label": "7"}}}, "named.oak.label: must have the form [a-z]+"),
        ({"height": 1, "named": {"oak": {"label": "spam"}}}, "named.oak.label: is not wanted"),
        ({"height": 1, "named": {"ash": None}}, "named.ash: the key must be 'oak' or 'elm'"),
    ],
)
def test_a_fault_is_said_in_plain_words(data, line):
    assert said(Tree, data) == [line]


def test_the_members_of_a_union_are_no_keys():
    assert said(Tree, {"height": 1, "leaves": [{"sise": 2}]}) == [
        "leaves[0]: must be text",
        "leaves[0]: unknown key 'sise'; did you mean size?",
    ]


def test_keys_are_called_what_people_call_them():
    assert said(Tree, {"height": 1, "zebra": 1}, noun="setting")[0].startswith("unknown setting 'zebra'")


def test_a_long_key_is_cut_and_no_value_is_quoted():
    (line,) = said(Tree, {"height": 1, "k" * 500: "words of somebody's text"})
    assert len(line) < 120
    assert "somebody" not in line


@pytest.mark.parametrize(("module", "name"), OF_USERS)
def test_no_words_of_pydantic_come_through(module, name):
    """Whatever stands in the place of a document, of one of its keys, or of an entry below it."""
    model = getattr(import_module(module), name)
    seen = 0
    for rubbish in RUBBISH:
        keyed = [
            {key: value} for key in model.model_fields for value in (rubbish, [rubbish], {"a": rubbish}, [{"tag": rubbish, "id": rubbish}])
        ]
        for data in [rubbish, *keyed]:
            try:
                model.model_validate(data)
            except ValidationError as error:
                for fault in schema_faults(error, model):
                    line = fault.said("the document")
                    assert not PYDANTIC.search(line), (data, line)
                    assert not any(str(step).startswith(("function-", "constrained", "PatternText")) for step in fault.path), line
                    seen += 1
            except PiiloomError:
                continue  # a validator of ours that says it all
    assert seen > 100


def test_a_run_file_with_a_slip_names_file_line_and_what_was_meant(tmp_path):
    path = tmp_path / "run.yaml"
    path.write_text("seed: 7\nsampels: 3\n")
    with pytest.raises(PiiloomError) as caught:
        read_config(path, {})
    assert str(caught.value) == "run.yaml:2: unknown setting 'sampels' (line 2); did you mean samples? Correct the settings named here."


def test_a_setting_from_python_is_told_in_the_same_words():
    with pytest.raises(PiiloomError, match=r"unknown setting .sampels.; did you mean samples[?] See"):
        make_config({"sampels": 3})
    with pytest.raises(PiiloomError, match="concurrency: must be at most 4096"):
        make_config({"concurrency": 9999})


def test_a_folder_that_has_no_name_is_named(tmp_path, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    with pytest.raises(PiiloomError) as caught:
        load_yaml(Path(), Tree)
    assert caught.value.where == "."
