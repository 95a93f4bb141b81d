from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, ConfigDict

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import key_name, load_yaml, read_document


class Rung(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    height: int
    note: str = ""


class Ladder(BaseModel):
    rungs: list[Rung]
    colours: dict[str, list[str]] = {}


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "ladder.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_is_given_as_its_model(tmp_path: Path) -> None:
    found = load_yaml(written(tmp_path, "rungs:\n  - height: 3\n  - {height: 4, note: worn}\n"), Ladder)
    assert [(rung.height, rung.note) for rung in found.rungs] == [(3, ""), (4, "worn")]


def test_a_fault_is_named_by_file_line_and_key_but_never_by_value(tmp_path: Path) -> None:
    path = written(tmp_path, "rungs:\n  - height: 3\n  - note: fine\n    height: secret-text\n")
    with pytest.raises(ConfigError) as caught:
        load_yaml(path, Ladder)
    assert caught.value.where == "ladder.yaml:4"
    assert "rungs[1].height (line 4)" in str(caught.value)
    assert "secret-text" not in str(caught.value)


def test_a_missing_key_points_at_the_entry_that_lacks_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_yaml(written(tmp_path, "rungs:\n  - height: 3\n\n  - note: fine\n"), Ladder)
    assert caught.value.where == "ladder.yaml:4"


def test_many_faults_are_counted_and_three_are_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"rungs\[2\].*\(and 2 more\)"):
        load_yaml(written(tmp_path, "rungs:\n" + "  - height: x\n" * 5), Ladder)


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("rungs: []\ncolours:\n  red: [a]\n  red: [b]\n", "ladder.yaml:4", "'red' is given twice"),
        ("rungs:\n  - height: 1\n   - height: 2\n", "ladder.yaml:3", "not valid YAML"),
        ("rungs: [\n", "ladder.yaml:2", "not valid YAML"),
        ("rungs: []\nnote: a\x07b\n", "ladder.yaml:2", "control character"),
        ("rungs: []\nday: 2020-02-31\n", "ladder.yaml:1", "does not exist"),
        ("rungs: !!python/name:os.system\n", "ladder.yaml:1", "not valid YAML"),
        ("rungs: !!map [a]\n", "ladder.yaml:1", "not valid YAML"),
        ("", "ladder.yaml:1", "document"),
        ("- 1\n", "ladder.yaml:1", "document"),
        ("rungs: &loop [*loop]\n", "ladder.yaml:1", "rungs[0]"),
        ("rungs: " + "[" * 3000 + "]" * 3000 + "\n", "ladder.yaml:1", ""),
        ("rungs: " + "[" * 900 + "]" * 900 + "\n", "ladder.yaml:1", ""),
    ],
)
def test_what_is_not_such_a_document_is_a_config_error(tmp_path: Path, text: str, where: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_yaml(written(tmp_path, text), Ladder)
    assert caught.value.where == where
    assert message in caught.value.message
    assert caught.value.exit_code == 2


def test_a_merged_key_may_be_overridden(tmp_path: Path) -> None:
    path = written(tmp_path, "base: &base {height: 1, note: old}\nrungs:\n  - <<: *base\n    note: new\n")
    assert load_yaml(path, Ladder).rungs[0] == Rung(height=1, note="new")


@pytest.mark.parametrize(
    "text",
    [
        "- &one {a: [1, two]}\n- *one\n- [*one, {b: *one}]",
        "a: &base {k: 1, other: x}\nb: {<<: *base, k: 2}",
        "{1: a, '1': b, yes: c, 2020-01-01: d, ~: e}",
        "- 1\n- 1.5\n- '1'\n- yes\n- 2020-01-01\n- ~\n- !!str 5\n- !!binary aGk=\n- !!omap [a: 1, b: [c]]",
        "a: {}\nb: []\nc: ''\nd:\n",
        "plain",
    ],
)
def test_a_document_is_read_as_pyyaml_reads_it(tmp_path: Path, text: str) -> None:
    found = read_document(written(tmp_path, text)).data
    assert found == yaml.safe_load(text)
    assert repr(found) == repr(yaml.safe_load(text))


def test_what_has_a_name_is_one_object_also_within_itself(tmp_path: Path) -> None:
    first, second = read_document(written(tmp_path, "- &one [a]\n- *one")).data
    assert first is second
    (loop,) = read_document(written(tmp_path, "- &loop [*loop]")).data
    assert loop[0] is loop
    found = read_document(written(tmp_path, "&loop {a: *loop}")).data
    assert found["a"] is found


def test_a_byte_order_mark_is_tolerated_and_other_encodings_are_not(tmp_path: Path) -> None:
    path = tmp_path / "ladder.yaml"
    path.write_bytes(b"\xef\xbb\xbfrungs: []\n")
    assert load_yaml(path, Ladder).rungs == []
    path.write_bytes("rungs: [] # größer\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_yaml(path, Ladder)


def test_a_missing_file_and_a_folder_are_config_errors_without_the_machine_path(tmp_path: Path) -> None:
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(ConfigError) as caught:
            load_yaml(path, Ladder)
        assert str(tmp_path.parent) not in str(caught.value)


def test_lines_and_key_names(tmp_path: Path) -> None:
    document = read_document(written(tmp_path, "rungs:\n  - height: 3\n    note: a\ncolours:\n  red: [b, a]\n"))
    assert document.where(("rungs", 0, "note")) == "ladder.yaml:3"
    assert document.line(("colours", "red", 7, "gone")) == 5
    assert document.text_lines() == {"3": 2, "a": 3, "b": 5}
    assert key_name(("rungs", 0, "note")) == "rungs[0].note"
