"""CoNLL: the layout, tokens and ids that look like syntax, and files of others in all common forms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from token_round_trips import marked

from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.token_formats import ConllFormat
from piiloom.corpus.importing import import_file
from piiloom.corpus.record import Record
from piiloom.corpus.store.database import Store
from piiloom.taxonomy.entity_types import shipped_taxonomy

CONLL = ConllFormat()
MAP = {"PER": "name", "ORG": "organization", "LOC": "location", "MISC": None}
CONLL_2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC
call NN I-NP O
. . O O

Peter NNP B-NP B-PER
Blackburn NNP I-NP I-PER
"""


def written(path: Path, *items: Record) -> str:
    CONLL.write(items, path, WriteOptions(taxonomy=shipped_taxonomy()))
    return path.read_bytes().decode()


def read(path: Path, content: str, tally: ReadTally | None = None) -> list[Record | RowReject]:
    path.write_bytes(content.encode())
    return list(CONLL.read(path, ReadOptions(label_map=MAP, taxonomy=shipped_taxonomy()), tally or ReadTally()))


def spans(row: Record | RowReject) -> tuple[str, list[tuple[str, str]]]:
    assert isinstance(row, Record), row
    return row.context, [(s.text_in(row.context), s.entity_type) for s in row.spans]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.conll"


def test_the_layout_is_a_token_a_line_with_relevance_and_tag(file: Path) -> None:
    first = marked('I\'m "Ann Lee".', "Ann Lee", question="Who\nis?")
    second = replace(marked("Bo, Al", "Bo", "Al"), id=" r2", locale="de\tDE")
    assert written(file, first, second) == (
        '# id = r1\n# locale = en_US\n# text = "I\'m \\"Ann Lee\\"."\n# question = "Who\\nis?"\n'
        'I\t_\tO\n\'\t_\tO\nm\t_\tO\n"\t_\tO\nAnn\tlow\tB-NAME\nLee\tlow\tI-NAME\n"\t_\tO\n.\t_\tO\n\n'
        '# id = " r2"\n# locale = "de\\tDE"\n# text = "Bo, Al"\nBo\tlow\tB-NAME\n,\t_\tO\nAl\tlow\tB-NAME\n\n'
    )


def test_lines_stay_lines_for_readers_that_split_at_all_line_ends(file: Path) -> None:
    text = "a\x85Bo\u2028c\u2029d\x1ce\x0cé"
    content = written(file, replace(marked(text, "Bo", question=text), id="r\u2028", locale="x\x85y"))
    assert content.splitlines() == content.split("\n")[:-1]


def test_tokens_that_look_like_comments_are_tokens(file: Path) -> None:
    record = marked("# id = 5 #Ann", "Ann")
    assert "\n#\t_\tO\nid\t_\tO\n" in written(file, record)
    assert spans(read(file, written(file, record))[0]) == ("# id = 5 #Ann", [("Ann", "name")])
    assert spans(read(file, "# O\nAnn B-PER\n")[0]) == ("# Ann", [("Ann", "name")])


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_conll_2003(line_end: str, file: Path) -> None:
    tally = ReadTally()
    rows = read(file, CONLL_2003.replace("\n", line_end), tally)
    assert [spans(row) for row in rows] == [
        ("EU rejects German call .", [("EU", "organization")]),
        ("Peter Blackburn", [("Peter Blackburn", "name")]),
    ]
    assert [row.source.line for row in rows if isinstance(row, Record) and row.source] == [3, 9]
    assert (tally.rows, tally.joined_texts, dict(tally.unmapped_labels)) == (2, 2, {"MISC": 1})


def test_an_import_counts_the_texts_that_were_joined(store: Store, file: Path) -> None:
    file.write_text(CONLL_2003)
    report = import_file(
        store, file, "conll", rejects_path=file.with_suffix(".rejects"), options=ReadOptions(label_map=MAP, taxonomy=shipped_taxonomy())
    )
    assert (report.records, report.joined_texts, report.to_json()["joined_texts"]) == (2, 2, 2)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Ann\tB-PER\nLee\tI-PER\nof\tO\nIBM\tB-ORG\n", [("Ann Lee", "name"), ("IBM", "organization")]),  # two columns
        ("Ann I-PER\nBo B-PER\nLee I-PER\n", [("Ann", "name"), ("Bo Lee", "name")]),  # IOB1
        ("Ann U-PER\nBo B-PER\nLee L-PER\n", [("Ann", "name"), ("Bo Lee", "name")]),  # BILOU
        ("# id 7d2f domain=train\nAnn _ _ S-PER\nis _ _ O\n", [("Ann", "name")]),  # MultiCoNER
        ("# sent_id = 3\nAnn\tX\tB-PER\n", [("Ann", "name")]),
        ("-DOCSTART-\tO\n\nAnn\tB-PER\n", [("Ann", "name")]),
        ("-DOCSTART- O\nAnn B-PER\n", [("Ann", "name")]),
        ("\n\n\nAnn   B-PER\n \n\n", [("Ann", "name")]),
        ("\ufeffAnn B-PER", [("Ann", "name")]),
        ("Ann high B-PER\n", [("Ann", "name")]),
    ],
)
def test_other_forms(content: str, expected: list[tuple[str, str]], file: Path) -> None:
    (row,) = read(file, content)
    assert spans(row)[1] == expected
    assert isinstance(row, Record)
    assert {span.relevance for span in row.spans} == {None}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('# id = r1\n# text = "Ann\nAnn\tlow\tB-NAME\n', "# text: not a JSON string"),
        ('# id = r1\n# text = "Ann", "x": 2\nAnn\tlow\tB-NAME\n', "# text: not a JSON string"),
        ('# id = "\\ud800"\n# text = "Ann"\nAnn\tlow\tB-NAME\n', "# id: not a JSON string"),
        ('# id = r1\n# text = "Bo"\nAnn\tlow\tB-NAME\n', 'tokens[0]: "Ann" is not where the text goes on'),
        ("# id = r1\nAnn\n", "line 2 of the record: not a token and a tag"),
        ("\tO\n", "line 1 of the record: not a token and a tag"),
        ("Leo B-STAR\n", "spans[0].type: not one of the known types"),
    ],
)  # fmt: skip
def test_a_wrong_record_is_refused_whole_and_the_next_is_read(content: str, reason: str, file: Path) -> None:
    rejected, kept = read(file, f"{content}\nBo\tO\n")
    assert isinstance(rejected, RowReject)
    assert rejected.reason.startswith(reason)
    assert (rejected.line, rejected.row) == (1, content.rstrip("\n"))
    assert spans(kept) == ("Bo", [])


def test_ids_that_repeat_are_refused(file: Path) -> None:
    content = written(file, marked("Ann", "Ann"))
    assert [type(row) for row in read(file, content + content)] == [Record, RowReject]
