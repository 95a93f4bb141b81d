"""Stand-off spans in XML: what a file tells of its text holds for the filled text, too."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import OffsetMap, Placed, Replaced
from piiloom.surrogates.inputs.given_spans import Told, read_standoff
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.running import run_surrogates
from tests.surrogates.inputs.reading_files import mirrored, read
from tests.surrogates.running_fakes import TagEngine, kind_of

LETTER = "\n\nRecord date: [DATE]\n\nMr [NAME] & son saw Dr. [NAME] (é) at\nEast Hill, [CITY].\n"


def i2b2(text: str, words: tuple[str, ...], first: int = 0, gap: int = 0) -> str:
    tags = "".join(
        f'<NAME id="P{number}" start="{text.index(one) + first - gap}" end="{text.index(one) + len(one) + first - gap}" '
        f'text={quoteattr(one.replace(chr(10), " "))} TYPE="PATIENT" comment="" />\n'
        for number, one in enumerate(words)
    )
    return f'<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}</TAGS>\n</deIdi2b2>\n'


def told(data: bytes) -> tuple[str, list[tuple[int, int, str]]]:
    root = ET.fromstring(data)  # noqa: S314 - made above
    text = root.find("TEXT")
    assert text is not None
    return text.text or "", [(int(one.attrib["start"]), int(one.attrib["end"]), one.attrib["text"]) for one in root.iter("NAME")]


@pytest.mark.parametrize("first", [0, 1])
def test_the_tags_of_i2b2_agree_with_the_filled_text(tmp_path: Path, first: int) -> None:
    path = tmp_path / "a.xml"
    path.write_text(i2b2(LETTER, ("[DATE]", "Mr [NAME]", "& son", "at\nEast", "East Hill, [CITY]", "[CITY]"), first), newline="")
    assert mirrored(path)[0] == path.read_bytes()
    assert [one.text for one in read(path)] == [LETTER]
    text, tags = told(mirrored(path, TagEngine())[0])
    assert "[" not in text
    assert [text[start - first : end - first].replace("\n", " ") for start, end, _ in tags] == [words for _, _, words in tags]
    assert [words for _, _, words in tags][2:4] == ["& son", "at East"]
    run_surrogates(SourceSettings(path=path), tmp_path / "out", TagEngine)
    assert verify_folder(tmp_path / "out", path).ranges == 4


def test_with_spans_the_tags_are_what_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    text = LETTER.replace("[DATE]", "May 4").replace("[NAME]", "Edith", 1).replace("[NAME]", "Bob").replace("[CITY]", "Rome")
    path.write_text(i2b2(text, ("May 4", "Edith", "Bob", "Rome")))
    (document,) = read(path, kind_of=kind_of)
    assert [(one.kind, one.original) for one in document.mentions or ()] == [("person", word) for word in ("May 4", "Edith", "Bob", "Rome")]
    run_surrogates(SourceSettings(path=path, kind_of=kind_of), tmp_path / "out", TagEngine)
    data = (tmp_path / "out" / "mirror" / "a.xml").read_bytes()
    new, tags = told(data)
    assert [new[start:end] for start, end, _ in tags] == [words for _, _, words in tags]
    assert not any(word in data for word in (b"May 4", b"Edith", b"Bob", b"Rome"))
    verify_folder(tmp_path / "out", path)


def test_line_ends_of_two_characters_may_count_as_one(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    data = i2b2(LETTER, ("[DATE]", "Dr. [NAME]", "[CITY]")).replace("\n", "\r\n").encode()
    path.write_bytes(data)
    assert mirrored(path)[0] == data
    text, tags = told(mirrored(path, TagEngine())[0])  # a parser reads CR LF as one
    assert [text[start:end] for start, end, _ in tags] == [words for _, _, words in tags]


@pytest.mark.parametrize(
    ("tag", "says"),
    [
        ('<NAME start="2" end="9" text="secret" TYPE="P"/>', "the words of the span differ"),
        ('<NAME start="2" end="9999" TYPE="P"/>', "lies outside the text"),
        ('<NAME start="0.0" end="6.0" text="secret" TYPE="P"/>', "not whole numbers"),
    ],
)
def test_a_tag_that_does_not_fit_is_refused_by_line(tmp_path: Path, tag: str, says: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(f"<r>\n<TEXT>[NAME] was here</TEXT>\n<TAGS>\n{tag}</TAGS></r>")
    with pytest.raises(DataError, match=rf"a\.xml:4: .*{says}") as caught:
        read(path)
    assert "secret" not in str(caught.value)
    assert read(path, skip_bad_rows=True) == []


def test_mae_and_offsets_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        '<r><clip start="3" end="900"/><TEXT>[NAME] came and [NAME] left</TEXT><TAGS>'
        '<P id="1" spans="0~6,16~22" text="[NAME] ... [NAME]"/><Q spans="-1~-1" text=""/></TAGS></r>'
    )
    data = mirrored(path, TagEngine(values=("Jo",)))[0].decode()
    assert '<clip start="3" end="900"/>' in data  # has no type and no words
    assert '<P id="1" spans="0~2,12~14" text="Jo ... Jo"/><Q spans="-1~-1" text=""/>' in data


TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><author>[NAME]</author></teiHeader>
<text><body><p xml:id="p1"><persName>[NAME]</persName><hi>lived</hi> in <placeName>[CITY]</placeName>.</p></body></text>
<standOff><spanGrp><span target="string-range(#p1,0,6)">a</span><span target="string-range(//body,15,6)"/>
<span target="string-range(#gone,15,6)"/></spanGrp></standOff></TEI>"""


def test_pointers_of_tei_are_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(TEI)
    (document,) = read(path)
    assert "[NAME]\nlived in [CITY]." in document.text
    assert mirrored(path)[0] == path.read_bytes()
    data = mirrored(path, TagEngine(values=("Johanna",)))[0].decode()
    assert "string-range(#p1,0,7)" in data
    assert "string-range(//body,16,7)" in data
    assert "string-range(#gone,15,6)" in data
    run_surrogates(SourceSettings(path=path), tmp_path / "out", TagEngine)
    verify_folder(tmp_path / "out", path)


def test_with_spans_the_elements_of_tei_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(TEI.replace("[NAME]", "Ann Archer").replace("[CITY]", "Rome").replace("<persName>", '<persName key="Ann Archer">'))
    (document,) = read(path, kind_of=lambda kind, _: kind)
    assert [(one.kind, one.original) for one in document.mentions or ()] == [("name", "Ann Archer"), ("location", "Rome")]
    run_surrogates(SourceSettings(path=path, kind_of=kind_of), tmp_path / "out", TagEngine)


@pytest.mark.long
@given(st.data())
def test_spans_that_cover_whole_words_cover_them_afterwards(data: st.DataObject) -> None:
    text = data.draw(st.text(alphabet="ab \r\n[]é😀", min_size=1, max_size=40))
    ends = st.integers(0, len(text))
    places = sorted({data.draw(ends) for _ in range(6)})
    spans = [(a, b) for a in places for b in places if a < b]
    standoff = read_standoff(text, [Told("x", (span,), None, 0) for span in spans])
    cuts = [cut for cut in zip(places[::2], places[1::2], strict=False) if cut[0] < cut[1]]
    placed, pieces, at, new = [], [], 0, 0
    for start, end in cuts:
        value = data.draw(st.sampled_from(["Zoë", "X", "a b c"]))
        pieces += [text[at:start], value]
        new += start - at
        placed.append(Placed(start, end, new, new + len(value), "person", "name", None, "v", ""))
        at, new = end, new + len(value)
    replaced = Replaced("".join([*pieces, text[at:]]), placed)
    moves = OffsetMap(one[:4] for one in placed)
    for (start, end), (_, (fragment,), words) in zip(spans, standoff.rewritten(replaced), strict=True):
        assert fragment == (moves.to_output(start), moves.to_output(end, end=True))
        assert words == replaced.text[slice(*fragment)]
