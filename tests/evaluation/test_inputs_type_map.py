"""``--label-map`` and ``--only-types``: renaming on both sides, leaving out, and sides without a common type."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.evaluation.inputs.documents import read_type_map
from piiloom.evaluation.inputs.opening import PairSettings
from piiloom.foundation.errors import ConfigError, DataError, UsageError
from tests.evaluation.input_files import lines, native, read_pairs, scored, span
from tests.longer import case_by_case


def test_a_map_renames_once_on_both_sides_and_leaves_out(tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [native("abcdefgh", span(0, 1, "A"), span(1, 2, "B"), span(2, 3, "MISC"), span(3, 4, None))])
    found = lines(tmp_path / "found.jsonl", [native("abcdefgh", span(0, 1, "B"), span(1, 2, "C"), span(5, 6, "MISC"))])
    pairs, summary = read_pairs(gold, found, label_map={"A": "B", "B": "C", "MISC": None, "Z": "A"})
    (pair,) = pairs
    assert [one.entity_type for one in pair.gold.mentions] == ["B", "C", None]
    assert [one.entity_type for one in pair.found.mentions] == ["C", "C"]
    assert (summary.gold.left_out_by_map, summary.found.left_out_by_map, summary.unused_map_keys) == (1, 1, ("Z",))
    assert (summary.types_only_in_gold, summary.types_only_in_found) == (["B"], [])
    assert (summary.gold.without_type, summary.to_json()["unused_map_keys"]) == (1, ["Z"])


def test_types_restrict_both_sides_after_renaming(tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [native("abcdefgh", span(0, 1, "A"), span(1, 2, "B"), span(3, 4, None))])
    figures, summary = scored(gold, gold, label_map={"A": "X"}, only_types=["X"])
    assert (figures["tp"], figures["fp"], figures["fn"]) == (1, 0, 0)
    assert (summary.gold.left_out_by_types, dict(summary.gold.types)) == (2, {"X": 1})


@pytest.mark.parametrize("key", ["SEXUAL_ORIENTATION", "sexual orientation"])
def test_a_map_may_name_a_type_as_written_or_as_the_taxonomy_spells_it(tmp_path: Path, key: str) -> None:
    tagged = tmp_path / "found.conll"
    tagged.write_text("bisexual B-SEXUAL_ORIENTATION\n")
    gold = lines(tmp_path / "gold.jsonl", [native("bisexual", span(0, 8, "ORIENTATION"))])
    figures, summary = scored(gold, tagged, label_map={key: "ORIENTATION"})
    assert (figures["tp"], summary.unused_map_keys) == (1, ())


def test_sides_without_a_common_type_are_an_error_that_names_both(tmp_path: Path) -> None:
    gold = lines(tmp_path / "gold.jsonl", [native("Ann", span(0, 3, "NAME_STUDENT"))] * 20)
    found = lines(tmp_path / "found.jsonl", [native("Ann", span(0, 3, "PERSON"))] * 20)
    with pytest.raises(DataError, match=r"no type in common: 'NAME_STUDENT' 20 in the gold, 'PERSON' 20 in the prediction.*--label-map"):
        read_pairs(gold, found)
    assert scored(gold, found, label_map={"PERSON": "NAME_STUDENT"})[0]["tp"] == 20
    assert read_pairs(gold, found, types_matter=False)[1].types_only_in_found == ["PERSON"]
    # A prediction of nothing, one without types, and one that uses our types wrongly are no mismatch of names.
    for spans, kind in (((), "NAME_STUDENT"), ((span(0, 3, None),), "NAME_STUDENT"), ((span(0, 3, "age"),), "name")):
        lines(gold, [native("Ann", span(0, 3, kind))] * 20)
        assert read_pairs(gold, lines(found, [native("Ann", *spans)] * 20))[1].pairs == 20
    # Few mentions may be wrong, all of them.
    rows = [native("Ann", span(0, 3, "PER"))] * 19
    assert read_pairs(lines(gold, rows), lines(found, [native("Ann", span(0, 3, "LOC"))] * 19))[1].types_only_in_gold == ["PER"]


@case_by_case(
    ("text", "line", "message"),
    [
        ("- A\n", 1, "is no map of types"),
        ("", 1, "is no map of types"),
        ("A: B\nNO: C\n", 2, "the label 'NO' is read as False"),
        ("A: B\nC: [D]\n", 2, "C: must be text or null"),
        ("A: B\nC: NO\n", 2, "C: must be text or null"),
        ("A: B\nC: ''\n", 2, "C: must be text or null"),
        ("A: B\nA: C\n", 2, "key 'A' is given twice"),
        ("A: B\n  C: [\n", 2, "not valid YAML"),
    ],
)
def test_a_bad_map_is_an_error_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        read_type_map(path)
    assert caught.value.where == f"map.yaml:{line}"


def test_a_map_and_a_list_of_types_are_read(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text("PERSON: NAME_STUDENT\nTITLE: null\nVIA: a b\n")
    assert read_type_map(path) == {"PERSON": "NAME_STUDENT", "TITLE": None, "VIA": "a b"}
    settings = PairSettings(label_map=path, only_types="A, B,,sexual orientation")
    assert settings.label_map == read_type_map(path)
    assert settings.only_types == ("A", "B", "sexual orientation")
    with pytest.raises(UsageError, match="no type is named"):
        PairSettings(only_types=" ,")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_type_map(tmp_path / "none.yaml")
