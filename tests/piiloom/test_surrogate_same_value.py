"""``--same-value``: known originals that stand again where no span marks them are replaced or counted, in every format with spans.

The originals are made up, so that no surrogate can be one of them. What is left is counted here by a search of its own.
"""

from __future__ import annotations

import json
import re
import zipfile

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.piiloom.inputs_with_spans import FORMATS, made, write
from tests.piiloom.surrogate_runs import _own_names, fill

__all__ = ["_own_names", "fill"]


def kept(folder):
    """All that the run's mirror publishes: names of files, and contents as text."""
    for path in sorted((folder / "mirror").rglob("*")):
        if path.is_dir():
            continue
        yield path.name
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    yield member
                    yield from (str(json.loads(line)) for line in archive.read(member).decode().splitlines())
        elif path.suffix in {".parquet", ".arrow"}:
            table = parquet.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_stream(path.read_bytes()).read_all()
            yield str(table.schema.metadata)
            yield from map(str, table.to_pylist())
        elif path.suffix == ".conll":
            for document in path.read_text().split("\n\n"):
                yield from (line for line in document.splitlines() if line.startswith("#"))
                yield " ".join(line.split("\t")[0] for line in document.splitlines() if not line.startswith("#"))
        elif path.suffix == ".jsonl":
            yield from (str(json.loads(line)) for line in path.read_text().splitlines())
        else:
            yield path.read_text()


def left_in(texts, originals):
    """How many known originals stand in *texts*: whole values, and single words of names; of both at a place the whole value."""
    known = sorted({one.casefold() for group in originals for one in group}, key=len, reverse=True)
    pattern = re.compile(r"(?<![^\W_])(?:" + "|".join(map(re.escape, known)).replace(r"\ ", r"[\s_]+") + r")(?![^\W_])")
    return sum(len(pattern.findall(text.casefold())) for text in texts)


def reported(report):
    return sum(report["engine"]["known_originals"]["left"].values())


@pytest.mark.parametrize(("form", "count"), [("jsonl", 8), *(pytest.param(form, 200, marks=pytest.mark.long) for form in FORMATS)])
def test_no_known_original_is_left_unreported(fill, cli, tmp_path, form, count):
    documents = list(made(count, 11))
    source = write(tmp_path / "in", form, documents)
    originals = [document[3] for document in documents]
    for mode in ("document", "corpus", "off"):
        report = fill(source, "--spans", "--same-value", mode, out=mode)
        left, told = left_in(kept(tmp_path / mode), originals), report["engine"]["known_originals"]
        assert left == reported(report), (mode, told)
        assert told["left"]["file names"] > 0
        texts = [json.loads(line)["context"] for line in (tmp_path / mode / "records.jsonl").read_text().splitlines()]
        in_texts = told["left"]["same document"] + told["left"]["other documents"]
        assert left_in(texts, originals) == in_texts
        assert (told["left"]["same document"] == 0) == (mode != "off")
        assert (told["left"]["other documents"] == 0) == (mode == "corpus")
        assert (told["replaced_without_a_span"] > 0) == (mode != "off")
        assert cli("surrogate", "check", tmp_path / mode, source).code == 0
    assert report["replaced"]["total"] == 3 * count


# Marked values and kinds, the text, its words that go, those that stay.
SAME = [  # words of the language stay with a small letter, and are counted with a capital
    ([("Rose Quorvane", "name")], "Rose Quorvane left. Rose said no, a rose fell. Quorvane wept.", ["Quorvane"], ["Rose said", "a rose"]),
    ([("Will", "name")], "It was Will. Will you come? It will rain.", ["was Will"], ["Will you", "It will"]),
    ([("Tolverkirk", "city")], "In Tolverkirk, then tolverkirk again; TOLVERKIRK's hall.", ["olverkirk", "OLVERKIRK"], ["'s hall"]),
    ([("Die Quorvands", "name")], "Die Quorvands kamen. Die Katze blieb, Quorvand auch.", ["Quorvand"], ["Die Katze"]),
    ([("Thalmeric Drexmoor née Hallowisk", "name")], "Thalmeric Drexmoor née Hallowisk left. Hallowisk wept.", ["Hallowisk"], ["wept"]),
    (  # a span that another one covers tells a value, too
        [("Drexmoor Hall of Tolverkirk", "organization"), ("Tolverkirk", "city")],
        "Drexmoor Hall of Tolverkirk, in Tolverkirk.",
        ["Tolverkirk"],
        [", in "],
    ),
    ([("34", "age")], "She is 34 and has 34 cows, 34.5 kilos.", [], ["34 cows", "34.5"]),
    ([("+99 201 334 455", "phone")], "+99 201 334 455 or +99 201 334 455.", ["201 334"], [" or +"]),
    ([("王小明", "name")], "王小明说他来了。后来王小明走了。", ["小明"], ["走了"]),
    ([("potter", "occupation")], "I am a potter. Potter work is slow.", ["otter"], ["work is slow"]),
    ([("Éluvienne Drexmoor", "name")], "Éluvienne Drexmoor vint.\n\nELUVIENNE\nDREXMOOR", ["DREXMOOR", "ELUVIENNE"], ["vint.\n\n"]),
]


def test_which_words_are_the_same_value(fill, tmp_path):
    rows = []
    for marked, text, _, _ in SAME:
        spans = [{"start": text.index(value), "end": text.index(value) + len(value), "type": kind} for value, kind in marked]
        rows.append(json.dumps({"text": text, "spans": spans}) + "\n")
    (tmp_path / "a.jsonl").write_text("".join(rows))
    report = fill(tmp_path / "a.jsonl", "--spans", "--seed", 5)
    for line, (_, _, gone, stays) in zip((tmp_path / "out" / "records.jsonl").read_text().splitlines(), SAME, strict=True):
        new = json.loads(line)["context"]
        assert not any(word in new for word in gone), new
        assert all(word in new for word in stays), new
    known = report["engine"]["known_originals"]
    assert (known["left"]["same document"], known["left_and_maybe_other_words"]) == (3, 3)  # Rose said, Will you, 34 cows


def test_what_has_no_known_values_refuses_the_option(cli, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "[NAME]"}\n')
    outcome = cli("surrogate", "run", tmp_path / "a.jsonl", "--same-value", "corpus", "--out", tmp_path / "out")
    assert outcome.code == 2
    assert "--spans" in outcome.error_line()
