"""The mapping file: what is written is read again, and faults are named by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import ConfigError
from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.placeholders import Finder, Mapping, Noted, TagRule, auto_mapping, dump_mapping, load_mapping

_TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
_NAME = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=20)
_RULES = st.builds(
    TagRule,
    tag=_NAME,
    kind=st.sampled_from(tuple(KINDS)),
    role=_TEXT,
    index=_TEXT,
    same=st.sampled_from(["mention", "document", "corpus"]),
    form=_TEXT,
    gender=st.sampled_from([None, "female", "male"]),
    plural=st.booleans(),
    context=st.sampled_from(["", "mention", "document"]),
    use=st.booleans(),
    confidence=st.floats(0, 1),
    count=st.integers(0, 10**9),
    documents=st.integers(0, 10**9),
    examples=st.lists(_TEXT, max_size=3).map(tuple),
)
_NOTED = st.lists(
    st.builds(
        Noted, tag=_TEXT, count=st.integers(0, 99), documents=st.integers(0, 99), why=_TEXT, examples=st.lists(_TEXT, max_size=2).map(tuple)
    ),
    max_size=3,
).map(tuple)
_MAPPINGS = st.builds(
    Mapping,
    rules=st.lists(_RULES, max_size=5, unique_by=lambda rule: rule.name).map(tuple),
    unknown=_NOTED,
    left_alone=_NOTED,
    grammars=st.sampled_from([None, ("square", "angle"), ("stars",)]),
    languages=st.sampled_from([("en",), ("nl", "en")]),
    unlisted=st.sampled_from(["read", "report"]),
)


@pytest.mark.long
@given(_MAPPINGS)
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, mapping: Mapping) -> None:
    path = tmp_path_factory.mktemp("mapping") / "map.yaml"
    path.write_text(dump_mapping(mapping), encoding="utf-8")
    assert load_mapping(path) == mapping


def test_a_learnt_mapping_is_explained_and_finds_the_same_from_its_file(tmp_path: Path) -> None:
    text = "[NAME] of [FLURB], <<PATIENT:Jo>>, Dr. X and Y [sic] at ABCD General Hospital, [appellant sub 3] te [Z]"
    learnt = auto_mapping([text] * 3)
    path = tmp_path / "map.yaml"
    path.write_text(dump_mapping(learnt), encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith("# What the placeholders of a corpus mean.")
    assert Finder(load_mapping(path)).find(text) == Finder(learnt).find(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules:\n- tag: '[A]'\n  kind: person\n- tag: '[B]'\n  kind: citty\n", "map.yaml:5: unknown kind 'citty'. Did you mean 'city'?"),
        ("rules:\n- regex: '(a'\n  kind: city\n", "map.yaml:2: not a regular expression: missing )"),
        ("rules:\n- tag: a\n  kind: city\n- tag: a\n  kind: city\n", "map.yaml:4: this pattern is given twice, first on line 2"),
        ("rules:\n- tag: a\n  kind: city\n  colour: red\n", "map.yaml:4: rules[0]: unknown key 'colour' (line 4); known: "),
        ("rules:\n- kind: city\n", "map.yaml:2: a rule has either a tag or a regex"),
        ("rules:\n- {tag: a, regex: a, kind: city}\n", "map.yaml:2: a rule has either a tag or a regex"),
        ("rules:\n- regex: 'a*'\n  kind: city\n", "map.yaml:2: the pattern matches the empty text"),
        ("rules:\n- regex: '(?P<indx>a)'\n  kind: city\n", "map.yaml:2: unknown group 'indx'. Did you mean 'index'?"),
        ("grammars:\n- square\n- sqare\n", "map.yaml:3: unknown grammar 'sqare'. Did you mean 'square'?"),
        ("languages: [en, xx]\n", "map.yaml:1: unknown language 'xx'"),
        ("languages: []\n", "map.yaml:1: no language is named"),
        ("rules:\n- tag: a\n  kind: city\n  same: always\n", "map.yaml:4: rules[0].same (line 4)"),
        ("rules:\n- tag: a\n  kind: city\n  confidence: 2\n", "map.yaml:4: rules[0].confidence"),
        ("rules: [\n", "map.yaml:2: not valid YAML"),
        ("", "map.yaml: is empty"),
        ("version: 2\n", "map.yaml:1: version (line 1)"),
    ],
)
def test_faults_are_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_mapping(path)
    assert str(caught.value).startswith(message)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_mapping(tmp_path / "none.yaml")


def test_rules_know_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text("rules:\n- tag: '[A]'\n  kind: person\n\n- regex: B+\n  kind: city\n", encoding="utf-8")
    mapping = load_mapping(path)
    assert ([rule.line for rule in mapping.rules], mapping.file) == ([2, 5], "map.yaml")


def test_grammars_are_switched_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text("grammars: [angle]\n", encoding="utf-8")
    text = "[NAME] <NAME> NAME_1"
    assert [text[m.start : m.end] for m in Finder(load_mapping(path)).find(text).mentions] == ["<NAME>"]
