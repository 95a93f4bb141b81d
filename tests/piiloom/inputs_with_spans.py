"""Made documents with spans, in every format that has them. No surrogate can be one of their originals, which are made up."""

from __future__ import annotations

import json
import random
import re
import zipfile

import pyarrow as pa
from pyarrow import parquet

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
