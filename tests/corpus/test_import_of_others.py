"""Imports of files that other tools wrote: a table of a file, the options, and what becomes of it.

Each case gives the rows in order: the marked (value, type) of a record, or the reason of a reject; and what the report says besides.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject
from piiloom.corpus.formats.registry import get_format, get_readable_format
from piiloom.corpus.importing import import_file
from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import DataError, PiiloomError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.label_maps import label_map

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
TOKENS = {"tokens": ["Ann", "Lee", "of", "Ghent"], "ner_tags": ["B-PER", "I-PER", "O", "B-LOC"]}
NUMBERS = {**TOKENS, "ner_tags": [1, 2, 0, 3]}
MARKED = [[("Ann Lee", "name"), ("Ghent", "location")]]
TEXT = "Ann Lee of Ghent"
OFFSETS = [[0, 7, "PER"], [11, 16, "LOC"]]
SPANS = [{"start": 0, "end": 7, "label": "PER"}, {"start": 11, "end": 16, "label": "LOC"}]
HTML = "<p>Hi &amp; bye,<br>Ann</p><p>Lee of <b>Gh</b>ent</p>"  # the text of its nodes: "Hi & bye,\nAnnLee of Ghent"
XPATHS = {"start": "/p[1]/text()[2]", "end": "/p[2]/text()[1]", "startOffset": 0, "endOffset": 3}
COLUMNAR = {"start": [0], "end": [7], "label": [1]}
FEATURES = {"ner_tags": {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "List"}}
CARD = "---\ndataset_info:\n  features:\n  - name: ner_tags\n    sequence:\n      class_label:\n        names:\n" + "".join(
    f"          '{at}': {name}\n" for at, name in enumerate(NAMES)
)
I2B2 = (
    '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT><![CDATA[\n\nDr. Ann Lee &\nSon, 12/03\n]]></TEXT>\n<TAGS>\n'
    '<NAME id="P0" start="6" end="19" text="Ann Lee &amp; Son" TYPE="DOCTOR" comment="" />\n'
    '<DATE id="P1" start="21" end="26" text="12/03" TYPE="DATE" comment="" />\n</TAGS>\n</deIdi2b2>\n'
)
I2B2_2006 = (
    '<ROOT>\n<RECORD ID="7"><TEXT>\nSeen by <PHI TYPE="DOCTOR">Lee &amp; Co</PHI> on <PHI TYPE="DATE">5/6</PHI> .\n</TEXT></RECORD>\n'
    '<RECORD ID="8"><TEXT>Nothing.</TEXT></RECORD>\n</ROOT>\n'
)
BOMB = '<!DOCTYPE a [<!ENTITY x "Ann">]><a><TEXT>&x;</TEXT></a>'


def region(kind: str, value: dict[str, Any], label: str = "name", **more: Any) -> dict[str, Any]:
    return {"id": None, "from_name": "ner", "to_name": "t", "type": kind, "value": {**value, kind: [label]}, **more}


def task(text: object, *result: dict[str, Any], key: str = "text", **more: Any) -> dict[str, Any]:
    return {"data": {key: text}, "annotations": [{"result": list(result)}], **more}


def html_region(start: int, end: int, text: str) -> dict[str, Any]:
    return region("hypertextlabels", {**XPATHS, "globalOffsets": {"start": start, "end": end}, "text": text})


def paragraph(start: str, start_offset: int, end: str, end_offset: int, text: str) -> dict[str, Any]:
    return region("paragraphlabels", {"start": start, "end": end, "startOffset": start_offset, "endOffset": end_offset, "text": text})


DIALOGUE = [{"author": "A", "text": "I am Ann"}, {"author": "B", "text": "Hi Ann"}]


@dataclass(frozen=True, kw_only=True)
class Case:
    """``rows`` is a text as it is written, or rows as JSON; ``beside``: other files of the folder."""

    format: str
    rows: object
    found: list[object]
    columns: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str | None] | str = field(default_factory=dict)
    suffix: str = ".json"
    texts: list[str] | None = None
    ignored: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


CASES = {
    # tokens and tags
    "tokens, ner_tags in JSON": Case(format="json", rows=[TOKENS], found=MARKED, texts=[TEXT], counts={"joined_texts": 1}),
    "… as JSON lines": Case(format="json", rows=json.dumps(TOKENS), found=MARKED, suffix=".jsonl"),
    "… in Parquet": Case(format="parquet", rows=[TOKENS], found=MARKED, suffix=".parquet"),
    "… with columns of other names": Case(
        format="json", rows=[{"w": TOKENS["tokens"], "t": TOKENS["ner_tags"]}], columns={"tokens": "w", "tags": "t"}, found=MARKED
    ),
    "… in CSV, as Python lists": Case(
        format="csv", rows="tokens,ner_tags\r\n\"['Ann', 'Lee']\",\"['B-PER', 'I-PER']\"\r\n", found=[[("Ann Lee", "name")]], suffix=".csv"
    ),
    "… in bio": Case(format="bio", rows=[TOKENS], found=MARKED),
    "bio with tokens and labels": Case(
        format="bio", rows=[{"tokens": ["Ann", "Lee"], "labels": ["B-PER", "I-PER"]}], found=[[("Ann Lee", "name")]]
    ),
    "bio with the text": Case(
        format="bio",
        rows=[{"text": "Ann  Lee", "tokens": ["Ann", "Lee"], "labels": ["B-PER", "I-PER"]}],
        found=[[("Ann  Lee", "name")]],
        texts=["Ann  Lee"],
    ),
    "bio with columns": Case(
        format="bio",
        rows=[{"w": ["Ann"], "y": ["B-PER"], "n": 5}],
        columns={"tokens": "w", "tags": "y", "id": "n"},
        found=[[("Ann", "name")]],
    ),
    "other tags beside ner_tags": Case(
        format="json", rows=[{**TOKENS, "id": "0", "pos_tags": [1, 2, 3, 4]}], found=MARKED, ignored={"id": 1, "pos_tags": 1}
    ),
    "numbers named in the metadata of Parquet": Case(format="parquet", rows=[NUMBERS], found=MARKED, suffix=".parquet+names"),
    "numbers named in dataset_info.json": Case(
        format="json", rows=[NUMBERS], found=MARKED, beside={"dataset_info.json": json.dumps({"features": FEATURES})}
    ),
    "numbers named in the card": Case(format="bio", rows=[NUMBERS], found=MARKED, beside={"README.md": f"{CARD}---\n# x\n"}),
    "a number without a name": Case(
        format="json",
        rows=[{"tokens": ["a"], "ner_tags": [9]}, NUMBERS],
        found=["ner_tags: the class label 9 has no name", *MARKED],
        beside={"dataset_info.json": json.dumps({"features": FEATURES})},
    ),
    "tags B, I and O": Case(
        format="bio",
        rows=[{"tokens": ["Ann", "Lee", "or", "Bo"], "labels": ["B", "I", "O", end]} for end in ("B", "B-", "S")],
        labels={"entity": "name"},
        found=[[("Ann Lee", "name"), ("Bo", "name")]] * 3,
    ),
    "tags B, I and O without a map": Case(
        format="conll",
        rows="Ann B\nLee I\nor O\n",
        suffix=".conll",
        found=["spans[0].type: not one of the known types"],
        unknown={"entity": 1},
    ),
    "CRAPII": Case(
        format="bio",
        rows=[
            {
                "document": 7,
                "full_text": "By Ann  Lee, n@x.ch ",
                "tokens": ["By", "Ann", " ", "Lee", ",", "n@x.ch"],
                "trailing_whitespace": [True, True, False, False, True, True],
                "labels": ["O", "B-NAME_STUDENT", "I-NAME_STUDENT", "I-NAME_STUDENT", "O", "B-EMAIL"],
            }
        ],
        labels="crapii",
        found=[[("Ann  Lee", "name"), ("n@x.ch", "code")]],
        texts=["By Ann  Lee, n@x.ch "],
    ),
    "numbers in lists of objects": Case(
        format="json",
        rows=[{"text": TEXT, "entities": [{"start": 0, "end": 7, "label": 1}]}, {"text": TEXT, "entities": COLUMNAR}],
        found=[[("Ann Lee", "name")]] * 2,
        beside={"dataset_info.json": json.dumps({"features": {"entities": [{"label": {"names": ["O", "PER"], "_type": "ClassLabel"}}]}})},
    ),
    "numbers in an object of lists": Case(
        format="json",
        rows=[{"text": TEXT, "entities": COLUMNAR}],
        found=[[("Ann Lee", "name")]],
        beside={
            "dataset_info.json": json.dumps(
                {"features": {"entities": {"label": {"feature": {"names": ["O", "PER"], "_type": "ClassLabel"}, "_type": "List"}}}}
            )
        },
    ),
    "… named in the card": Case(
        format="json",
        rows=[{"text": TEXT, "entities": COLUMNAR}],
        found=[[("Ann Lee", "name")]],
        beside={
            "README.md": "---\ndataset_info:\n  features:\n  - name: entities\n    struct:\n    - name: label\n      list:\n"
            "        class_label:\n          names: {'0': O, '1': PER}\n---\n"
        },
    ),
    "lists that numpy printed": Case(
        format="csv",
        rows="tokens,ner_tags\n\"['Ann' 'Lee']\",[1 2]\n",
        suffix=".csv",
        found=["a list without commas, as numpy prints it; write the table as JSON lines or Parquet"],
    ),
    "numbered tokens": Case(
        format="conll",
        rows="1\tAnn\tB-PER\n2\tLee\tI-PER\n\n1\tCD\tB-PER\n",
        suffix=".conll",
        found=["the first column numbers the tokens", [("1", "name")]],
    ),
    # a text with spans
    "doccano": Case(
        format="json", rows=json.dumps({"id": 3, "text": TEXT, "label": OFFSETS}), suffix=".jsonl", found=MARKED, ignored={"id": 1}
    ),
    "doccano with columns": Case(
        format="json", rows=[{"text": TEXT, "label": OFFSETS}], columns={"context": "text", "spans": "label"}, found=MARKED
    ),
    "doccano with the column of the text": Case(
        format="json", rows=[{"text": TEXT, "label": OFFSETS}], columns={"context": "text"}, found=MARKED
    ),
    "doccano with the text of the spans": Case(
        format="json",
        rows=[{"text": TEXT, "labels": [[0, 7, "PER", "Ann Lee"]]}, {"text": TEXT, "labels": [[0, 7, "PER", "Ann L"]]}],
        found=[[("Ann Lee", "name")], 'spans[0].text: "Ann L" differs from context[0:7]'],
    ),
    "doccano with entities, numeric ids and relations": Case(
        format="json",
        rows=[
            {
                "text": TEXT,
                "entities": [{"id": 7, "label": "PER", "start_offset": 0, "end_offset": 7}],
                "relations": [{"id": 1, "from_id": 7, "to_id": 7, "type": "x"}],
                "Comments": [],
            }
        ],
        found=[[("Ann Lee", "name")]],
        ignored={"relations": 1},
    ),
    "numeric ids in native rows": Case(
        format="native",
        rows=json.dumps(
            {
                "id": 5,
                "context": TEXT,
                "spans": [{"start": 0, "end": 7, "text": "Ann Lee", "type": "name", "id": 7, "value_id": 1, "subject": 2}],
            }
        ),
        suffix=".jsonl",
        found=[[("Ann Lee", "name")]],
    ),
    "Prodigy": Case(
        format="json",
        rows="\n".join(json.dumps({"text": TEXT, "spans": SPANS, "answer": answer}) for answer in ("accept", "reject", "ignore")),
        suffix=".jsonl",
        found=[*MARKED, 'answer: the annotator did not accept the row: "reject"', 'answer: the annotator did not accept the row: "ignore"'],
    ),
    "Prodigy with columns": Case(
        format="native",
        rows=json.dumps({"text": TEXT, "spans": SPANS, "answer": "reject", "tokens": [{"text": "Ann", "start": 0, "end": 3, "id": 0}]}),
        suffix=".jsonl",
        columns={"context": "text", "spans.type": "label"},
        found=['answer: the annotator did not accept the row: "reject"'],
    ),
    "Prodigy without spans, and a choice": Case(
        format="json",
        rows="\n".join(json.dumps({"text": TEXT, "answer": "accept", "_input_hash": 1, **more}) for more in ({}, {"accept": ["A"]})),
        suffix=".jsonl",
        found=[[], "context: is missing"],
    ),
    "spaCy's pairs": Case(format="json", rows=[[TEXT, {"entities": OFFSETS}]], found=MARKED),
    "spaCy's ents": Case(format="json", rows=[{"text": TEXT, "ents": SPANS}], found=MARKED),
    "a table with spans and the column of its text": Case(
        format="parquet",
        rows=[{"body": TEXT, "spans": SPANS, "x": 1}],
        suffix=".parquet",
        columns={"context": "body"},
        found=MARKED,
        ignored={"x": 1},
    ),
    "… in CSV": Case(
        format="csv",
        rows=f'body,spans\n{TEXT},"{json.dumps(SPANS)}"\n'.replace('"[', "\0[").replace(']"', "]\0").replace('"', '""').replace("\0", '"'),
        suffix=".csv",
        columns={"context": "body"},
        found=MARKED,
    ),
    "native rows with columns": Case(
        format="native", rows=json.dumps({"body": TEXT, "spans": SPANS}), suffix=".jsonl", columns={"context": "body"}, found=MARKED
    ),
    "all unknown labels of a row": Case(
        format="json",
        rows=[{"text": TEXT, "spans": [{"start": 0, "end": 3, "label": kind} for kind in ("Q1", "Q2", "Q1")]}],
        found=["spans[0].type: not one of the known types"],
        unknown={"Q1": 2, "Q2": 1},
    ),
    # corpora
    "TAB": Case(
        format="tab",
        rows=[
            {
                "doc_id": 1,
                "text": TEXT,
                "dataset_type": "dev",
                "annotations": {
                    annotator: {
                        "entity_mentions": [
                            {
                                "entity_type": "PERSON",
                                "entity_mention_id": "m1",
                                "start_offset": 0,
                                "end_offset": 7,
                                "span_text": "Ann Lee",
                                "edit_type": "check",
                                "identifier_type": "DIRECT",
                                "entity_id": 1,
                                "confidential_status": "NOT_CONFIDENTIAL",
                            }
                        ]
                    }
                    for annotator in ("annotator1", "annotator2")
                },
            }
        ],
        found=[[("Ann Lee", "name")]],
        ignored={"annotators, of several but the first": 1, "dataset_type": 1, "identifier_type": 1},
    ),
    "i2b2 of 2014": Case(
        format="i2b2",
        rows=I2B2,
        suffix=".xml",
        found=[[("Ann Lee &\nSon", "name"), ("12/03", "datetime")]],
        texts=["\n\nDr. Ann Lee &\nSon, 12/03\n"],
    ),
    "i2b2 with offsets of another text": Case(
        format="i2b2",
        rows=I2B2.replace('start="21" end="26"', 'start="20" end="25"'),
        suffix=".xml",
        found=['spans[1].text: "12/03" differs from context[20:25]'],
    ),
    "i2b2 of 2006": Case(
        format="i2b2",
        rows=I2B2_2006,
        suffix=".xml",
        found=[[("Lee & Co", "name"), ("5/6", "datetime")], []],
        texts=["\nSeen by Lee & Co on 5/6 .\n", "Nothing."],
    ),
    "XML with an entity of a DTD elsewhere": Case(
        format="i2b2",
        rows='<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a><TEXT>By &who; Lee</TEXT></a>',
        suffix=".xml",
        found=['"rows": the file has an entity of its own, which is not read'],
    ),
    "XML in a ZIP archive": Case(format="i2b2", rows="PK\3\4", suffix=".zip", found=['"rows": a ZIP archive; unpack it']),
    "XML with an entity": Case(
        format="i2b2", rows=BOMB, suffix=".xml", found=['"rows": the file has an entity of its own, which is not read']
    ),
    "XML that is cut off": Case(format="i2b2", rows=I2B2[:150], suffix=".xml", found=['"rows": not valid XML (line ']),
    # Label Studio
    "labels of HTML": Case(
        format="label-studio",
        rows=[task(HTML, html_region(10, 16, "Ann\n\nLee"), html_region(20, 25, "Ghent")), task("<i>No</i> one")],
        found=[[("AnnLee", "name"), ("Ghent", "name")], []],
        texts=["Hi & bye,\nAnnLee of Ghent", "No one"],
    ),
    "labels of HTML whose offsets are wrong": Case(
        format="label-studio",
        rows=[task(HTML, html_region(11, 17, "AnnLee"))],
        found=['spans[0].text: "AnnLee" differs from context[11:17]'],
    ),
    "labels of HTML without offsets": Case(
        format="label-studio",
        rows=[task(HTML, region("hypertextlabels", XPATHS))],
        found=["spans[0]: must have whole numbers start and end, globalOffsets, or offsets in a paragraph"],
    ),
    "labels of HTML in JSON-MIN": Case(
        format="label-studio", rows=[{"id": 1, "html": HTML, "ner": [html_region(10, 13, "Ann")["value"]]}], found=[[("Ann", "name")]]
    ),
    "labels of a dialogue": Case(
        format="label-studio",
        rows=[task(DIALOGUE, paragraph("0", 5, "0", 8, "Ann"), paragraph("0", 0, "1", 2, "I am Ann\n\nHi"), key="dialogue")],
        found=[[("I am Ann\nHi", "name")]],
        texts=["I am Ann\nHi Ann"],
        ignored={"data.dialogue.author": 2},
    ),
    "labels of a dialogue whose offsets are wrong": Case(
        format="label-studio",
        rows=[task(DIALOGUE, paragraph("1", 5, "1", 8, "Ann"), key="dialogue")],
        found=['spans[0].text: "Ann" has the range [14, 17)'],
    ),
    "offsets in UTF-16 units": Case(
        format="label-studio",
        rows=[
            task("\U0001f600 Ann", region("labels", {"start": 3, "end": 6, "text": "Ann"})),
            task("\U0001f600 Ann", region("labels", {"start": 4, "end": 7, "text": "Ann"})),
            task([{"text": "a"}, {"text": "\U0001f600 Ann"}], paragraph("1", 3, "1", 6, "Ann"), key="dialogue"),
        ],
        found=[[("Ann", "name")], 'spans[0].text: "Ann" has the range [4, 7)', [("Ann", "name")]],
        ignored={"offsets in UTF-16 units (code points took their place)": 2},
    ),
    "HTML with offsets in UTF-16 units": Case(
        format="label-studio", rows=[task("<p>&#128512;&nbsp;Ann</p>", html_region(3, 6, "Ann"))], found=[[("Ann", "name")]]
    ),
    "addresses of texts": Case(
        format="label-studio",
        rows=[task(address) for address in ("https://x.ch/a.txt", "s3://b/a.txt", "/data/upload/1/a.txt")] + [task("see https://x.ch")],
        found=["data.text: is the address of a text, not the text"] * 3 + [[]],
    ),
    "drafts, other data, JSON lines": Case(
        format="label-studio",
        rows="\n".join(json.dumps({**task(TEXT), "data": {"text": TEXT, "source": "x"}, "drafts": [{}]}) for _ in range(2)),
        suffix=".jsonl",
        found=[[], []],
        ignored={"drafts": 2, "data.source": 2},
    ),
    "a choice in JSON-MIN": Case(
        format="label-studio",
        rows=[{"id": 1, "text": TEXT, "ner": [], "sentiment": "good", "topic": {"choices": ["a", "b"]}, "annotator": 1}],
        found=[[]],
        ignored={"sentiment": 1, "topic": 1},
    ),
    "labels in CSV": Case(
        format="csv",
        rows=f'text,label\n{TEXT},"[{{""start"": 0, ""end"": 7, ""text"": ""Ann Lee"", ""labels"": [""PER""]}}]"\n',
        suffix=".csv",
        found=[[("Ann Lee", "name")]],
    ),
    "a dialogue with another key": Case(
        format="label-studio",
        rows=[task([{"phrase": "I am Ann"}], paragraph("0", 5, "0", 8, "Ann"), key="chat")],
        columns={"context": "chat.phrase"},
        found=[[("Ann", "name")]],
    ),
    "… that is not named": Case(
        format="label-studio",
        rows=[task([{"phrase": "I am Ann"}], key="dialogue")],
        found=["data.dialogue: no key has the text of every paragraph; name it with --columns, as context=dialogue.KEY"],
    ),
    "two annotators, one of them cancelled, and predictions": Case(
        format="label-studio",
        rows=[
            {
                "data": {"text": TEXT},
                "annotations": [
                    {"result": []},
                    {"result": [region("labels", {"start": 0, "end": 7, "text": "Ann Lee"})]},
                    {"result": [], "was_cancelled": True},
                ],
                "predictions": [{"result": []}],
            }
        ],
        found=[[("Ann Lee", "name")]],
        ignored={"annotations, of several but the last": 1, "annotations that are cancelled": 1, "predictions": 1},
    ),
    # CAPID
    "CAPID with values at a seam": Case(
        format="capid",
        rows="\n".join(
            json.dumps(
                {"context": context, "question": None, "piis": {value: {"type": kind, "relevance": "1"} for value, kind in values.items()}}
            )
            for context, values in (
                ("I, 29F, From here.", {"29": "age", "F": "demographic"}),
                ("I, 29F, was 29 then.", {"29": "age"}),
                ("We: 29F and 29M.", {"29": "age"}),
                ("In 1934, a bisexuality.", {"34": "age", "bisexual": "sexual orientation"}),
                ("I am 29F.", {"29F": "age", "F": "demographic"}),
            )
        ),
        suffix=".jsonl",
        found=[
            [("29", "age"), ("F", "demographic")],
            [("29", "age")],
            'piis["29"]: stands only inside a longer word',
            'piis["34"]: stands only inside a longer word; piis["bisexual"]: stands only inside a longer word',
            [("29F", "age")],
        ],
        counts={"values": 8, "exact": 2, "inside_word": 6, "seams": 3, "missing": 0},
    ),
}


def written(case: Case, folder: Path) -> Path:
    for name, content in case.beside.items():
        (folder / name).write_text(content, encoding="utf-8")
    suffix, _, names = case.suffix.partition("+")
    path = folder / f"rows{suffix}"
    if suffix == ".parquet":
        rows: Any = case.rows
        table = pa.Table.from_pylist(rows)
        pq.write_table(
            table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": FEATURES}})} if names else None), path
        )
    else:
        path.write_bytes((case.rows if isinstance(case.rows, str) else json.dumps(case.rows)).encode())
    return path


@pytest.mark.parametrize("name", CASES)
def test_files_of_others(name: str, tmp_path: Path) -> None:
    case, tally = CASES[name], ReadTally()
    labels = label_map(case.labels, taxonomy=shipped_taxonomy()) if isinstance(case.labels, str) else case.labels
    options = ReadOptions(columns=case.columns, label_map=labels, taxonomy=shipped_taxonomy())
    rows = list(get_readable_format(case.format).read(written(case, tmp_path), options, tally))
    found = [
        row.reason if isinstance(row, RowReject) else [(span.text_in(row.context), span.entity_type) for span in row.spans] for row in rows
    ]
    assert len(found) == len(case.found), found
    for one, wanted in zip(found, case.found, strict=True):
        assert one[: len(wanted)] == wanted if isinstance(one, str) and isinstance(wanted, str) else one == wanted
    if case.texts is not None:
        assert [row.context for row in rows if not isinstance(row, RowReject)] == case.texts
    assert case.ignored.items() <= dict(tally.ignored_fields).items()
    assert dict(tally.unknown_types) == case.unknown
    assert {key: getattr(tally, key) for key in case.counts} == case.counts


@pytest.mark.parametrize(
    ("format_name", "rows", "columns", "kind", "message"),
    [
        (
            "json",
            [NUMBERS],
            {},
            DataError,
            r"the column 'ner_tags' has numbers of class labels, and nothing names them.*dataset_info\.json",
        ),
        ("parquet", [NUMBERS], {}, DataError, r"'ner_tags' has numbers of class labels"),
        ("json", [{"text": TEXT, "label": [[0, 7, 3]]}], {}, DataError, r"the column 'label' has numbers of class labels"),
        (
            "capid",
            [],
            {"context": "text"},
            UsageError,
            r"the format 'capid' reads the field 'context' from its own keys only.*Leave --columns out",
        ),
        ("conll", [], {"tags": "x"}, UsageError, r"the format 'conll' reads the field 'tags' from its own keys only"),
        (
            "label-studio",
            [],
            {"spans": "x"},
            UsageError,
            r"reads the field 'spans' .*It reads from columns of any name: context, question, id, locale",
        ),
        ("bio", [], {"spans": "x"}, UsageError, r"It reads from columns of any name: .*tokens, tags"),
        ("native", [], {"text": "x"}, UsageError, r"there is no field 'text'"),
        (
            "bio",
            [{"tokens": ["a", "b"], "labels": ["B-SHOE_SIZE", "B-NAME_STUDENT"]}, {"tokens": ["a"], "labels": ["B-NAME_STUDENT"]}],
            {},
            DataError,
            r"labels that name no known type: NAME_STUDENT 2, SHOE_SIZE 1\. Say .* with --label-map FILE.*crapii has 1 of 2",
        ),
        ("tab", {"d1": []}, {}, DataError, "not a JSON array"),
    ],
)
def test_what_cannot_be_imported_says_why(
    store: Store, tmp_path: Path, format_name: str, rows: object, columns: dict[str, str], kind: type[PiiloomError], message: str
) -> None:
    path = written(Case(format=format_name, rows=rows, found=[], suffix=".parquet" if format_name == "parquet" else ".json"), tmp_path)
    with pytest.raises(kind, match=message):
        import_file(
            store,
            path,
            format_name,
            rejects_path=tmp_path / "rejects.jsonl",
            options=ReadOptions(columns=columns, taxonomy=shipped_taxonomy()),
        )


def test_a_folder_of_i2b2_is_read_by_names_and_other_files_are_left(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.xml", "a.xml", "sub/c.XML", "d.txt"):
        (tmp_path / name).write_text(I2B2, encoding="utf-8")
    (tmp_path / "b.xml").write_text("<x/>", encoding="utf-8")
    rows = list(get_readable_format("i2b2").read(tmp_path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()))
    assert [row.reason if isinstance(row, RowReject) else row.id for row in rows] == ["a", '"b": there is no TEXT element', "sub/c"]
    with pytest.raises(UsageError, match="cannot be written"):
        get_format("i2b2")


def test_the_names_of_tools_lead_to_the_format_that_reads_their_files() -> None:
    for name, called in (
        ("doccano", "json"),
        ("Prodigy", "json"),
        ("hf", r"huggingface \(Parquet\) or json"),
        ("spacy_json", "json"),
        ("CoNLL 2003", "conll"),
    ):
        with pytest.raises(UsageError, match=rf"unknown format '{name}'.* Its files are read with {called}\. Known formats: native"):
            get_readable_format(name)
