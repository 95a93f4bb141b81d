"""``--same-value``: known originals that stand again where no span marks them are replaced or counted, in every format with spans.

The originals are made up, so that no surrogate can be one of them. What is left is counted here by a search of its own.
"""

from __future__ import annotations

import json
import random
import re
import zipfile

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.piiloom.surrogate_runs import _own_names, fill

__all__ = ["_own_names", "fill"]

GIVEN = ("Zorvane", "Thalmeric", "Quillonde", "Brixanth", "Ondrevik", "Maelithra", "Corvanthe", "Éluvienne")
FAMILY = ("Quorvand", "Drexmoor", "Hallowisk", "Vantrobel", "Sköldmark-Ruun", "Pellathorne", "Krusjvik", "O'Trennal")
TOWNS = ("Grummelstade", "Port Ylvane", "Tolverkirk", "Sankt Vrolm", "Nieuw-Drachtelo")
# {p} {g} {f} the person, given and family name; {t} a town; {n} a number. Of each the first is marked, the others stand unmarked.
SENTENCES = {
    "en": "{p} of {t} called from {n}.|Later {p} said that {T} is far away.|{F} was late, and Mr. {f} left {n} behind.|Then {g} slept.",
    "de": "{p} aus {t} rief von {n} an.|Danach sagte {p}, {T} sei weit.|{F} kam zu spät, und Herr {f} ließ {n} da.|Dann schlief {g}.",
    "fr": "{p} de {t} a appelé du {n}.|L'ami d'{p} a dit que {T} est loin.|{F} était en retard, et M. {f} a laissé {n}.|Puis {g} dort.",
    "nl": "{p} uit {t} belde met {n}.|Daarna zei {p} dat {T} ver is.|{F} was laat, en de heer {f} liet {n} achter.|Toen sliep {g}.",
}
FORMATS = ("jsonl", "json", "parquet", "arrow", "conll", "brat", "i2b2", "tei", "zip")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\+?\d[\d ]*\d")


def made(count, seed):
    """Documents: text, spans (start, end, type), a note about another document's person, and all originals."""
    draw = random.Random(seed)
    people = [(given, family) for given in GIVEN for family in FAMILY]
    draw.shuffle(people)
    for number in range(count):
        given, family = people[number % len(people)]
        town = draw.choice(TOWNS)
        phone = f"+99 {draw.randrange(10**8, 10**9)}"
        words = {"p": f"{given} {family}", "g": given, "f": family, "F": family.upper(), "t": town, "T": town.upper(), "n": phone}
        first, *more = SENTENCES[draw.choice(list(SENTENCES))].split("|")
        draw.shuffle(more)
        if draw.random() < 0.3:
            more.append("{o} waited.".replace("{o}", " ".join(people[(number + 7) % min(count, len(people))])))
        text = " ".join([first, *more]).format(**words)
        spans = [(text.index(words[key]), text.index(words[key]) + len(words[key]), kind) for key, kind in KINDS]
        note = words["p"] if draw.random() < 0.2 else "nothing"
        yield text, sorted(spans), note, (words["p"], given, family, town, phone)


KINDS = (("p", "name"), ("t", "city"), ("n", "phone"))


def write(folder, form, documents):
    """Write *documents* in the format *form*, and return the input; one file bears a name of somebody."""
    folder.mkdir()
    name = "_".join(documents[0][3][0].split())
    if form in {"brat", "i2b2", "tei"}:
        for number, document in enumerate(documents):
            write_document(folder / f"{name if number == 0 else f'doc{number}'}.xml", form, *document[:3])
        return folder
    rows = [
        {
            "id": f"d{n}",
            "text": text,
            "note": note,
            "spans": [{"start": a, "end": b, "type": kind, "text": text[a:b]} for a, b, kind in spans],
        }
        for n, (text, spans, note, _) in enumerate(documents)
    ]
    table, owner = pa.Table.from_pylist(rows), documents[1][3][0]
    path = folder / f"{name}.{'jsonl' if form == 'zip' else form}"
    match form:
        case "json":
            path.write_text(json.dumps(rows, ensure_ascii=False, indent=1))
        case "parquet":
            parquet.write_table(table.replace_schema_metadata({"owner": owner}), path)
        case "arrow":
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as out:
                out.write_table(table)
        case "conll":
            path.write_text("".join(map(tokens_of, documents)))
        case _:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if form == "zip":
        with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
            archive.write(path, path.name)
        return folder.with_suffix(".zip")
    return folder


def write_document(path, form, text, spans, note):
    """Write a document of a format with a file for each."""
    if form == "brat":
        path.with_suffix(".txt").write_text(text)
        marks = [f"T{n}\t{kind} {a} {b}\t{text[a:b]}\n" for n, (a, b, kind) in enumerate(spans)]
        path.with_suffix(".ann").write_text("".join(marks) + f"#1\tAnnotatorNotes T0\t{note}\n")
    elif form == "i2b2":
        marks = "".join(f'<TAG id="T{n}" start="{a}" end="{b}" text="{text[a:b]}" TYPE="{kind}"/>' for n, (a, b, kind) in enumerate(spans))
        path.write_text(f'<deId><TEXT>{text}</TEXT><TAGS note="{note}">{marks}</TAGS></deId>')
    else:
        inside, at = "", 0
        for a, b, kind in spans:
            tag = {"name": "persName", "city": "placeName", "phone": "idno"}[kind]
            inside, at = inside + f"{text[at:a]}<{tag}>{text[a:b]}</{tag}>", b
        path.write_text(f'<TEI><note n="{note}"/><text>{inside}{text[at:]}</text></TEI>')


def tokens_of(document):
    """The lines of a document with tags, in two columns, and its note as a comment."""
    text, spans, note, _ = document
    out, open_span = [f"-DOCSTART-\tO\n# {note}\n"], None
    for token in re.finditer(r"\S+?(?=[.,]?(?:\s|$))|[.,]", text):
        inside = next((span for span in spans if span[0] <= token.start() < span[1]), None)
        out.append(f"{token.group()}\t{'O' if inside is None else ('I-' if inside == open_span else 'B-') + inside[2]}\n")
        open_span = inside
    return "".join([*out, "\n"])


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
