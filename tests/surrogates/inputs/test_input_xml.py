from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import DataError
from tests.surrogates.inputs.reading_files import mirrored, read
from tests.surrogates.running_fakes import TagEngine

WORDS = st.lists(st.sampled_from(["[NAME]", "&", "<", ">", '"', "'", "é", "]]", " ", "\n", "x", "[", "NAME]"]), max_size=6).map("".join)


def element(children: list[str]) -> str:
    inside = "".join(children)
    return f"<p a={quoteattr(inside)}>{inside}</p>"


NODES = st.recursive(
    st.one_of(
        WORDS.map(escape),
        WORDS.map(lambda text: f"<![CDATA[{text.replace(']]>', '')}]]>"),
        st.sampled_from(["<!-- [NAME] <b> -->", "<br/>", "<?do [NAME]?>", "&#233;", "&#x1F600;", "<i title='a > b [NAME]'>[NAME]</i>"]),
    ),
    lambda node: st.lists(node, max_size=4).map(element),
    max_leaves=10,
)
HEADS = st.sampled_from(["", '<?xml version="1.0" encoding="UTF-8"?>\n', '<!DOCTYPE r [<!ENTITY x "a > [NAME]"> <!-- > -->]>\n', "\ufeff"])


@pytest.mark.long
@given(head=HEADS, node=NODES)
def test_xml_comes_back_and_only_text_changes(tmp_path_factory: pytest.TempPathFactory, head: str, node: str) -> None:
    path = tmp_path_factory.getbasetemp() / "a.xml"
    path.write_text(f"{head}<r>{node}</r>", encoding="utf-8", newline="")
    assert mirrored(path)[0] == path.read_bytes()
    (text,) = [one.text for one in read(path)] or [""]
    root = ET.fromstring(path.read_bytes())  # noqa: S314 - made above
    assert bare(text) == bare("".join(root.itertext()))
    data, replaced = mirrored(path, TagEngine())
    after = ET.fromstring(data)  # noqa: S314
    if replaced:
        assert bare("".join(after.itertext())) == bare(replaced[0].text)
    assert [(one.tag, one.attrib) for one in after.iter()] == [(one.tag, one.attrib) for one in root.iter()]


def bare(text: str) -> str:
    """Without the line breaks between touching elements and around the root; white space alone is no document."""
    bare_text = text.replace("\n", "")
    return bare_text if bare_text.strip() else ""


def test_a_placeholder_may_go_over_nodes(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<r><b>[NA</b>ME] &amp; &lt;[CITY]&gt;<![CDATA[ <[NAME]> ]]></r>")
    data, _ = mirrored(path, TagEngine(values=("A<&",)))
    assert data.decode() == "<r><b>A&lt;&amp;</b> &amp; &lt;A&lt;&amp;&gt;<![CDATA[ <A<&> ]]></r>"


def test_touching_elements_do_not_run_together(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<r><n>Jan</n><n>Piet</n> <b>x</b>y<i>z</i></r>")
    assert [one.text for one in read(path)] == ["Jan\nPiet xyz"]


@pytest.mark.parametrize("body", ["<r>\n<b", "<r>\n<!-- x", "<r>\na < b</r>", "<r>\n<![CDATA[ x</r>", "<r a='>\n</r>"])
def test_what_is_no_xml_is_refused_by_line(tmp_path: Path, body: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(body)
    with pytest.raises(DataError, match=r"a\.xml:[12]: not valid XML"):
        read(path)


def test_entities_that_nobody_knows_are_text(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<r>&eacute; &mine; &#0; &#xD800; &#99999999; &</r>")
    assert [one.text for one in read(path)] == ["é &mine; &#0; &#xD800; &#99999999; &"]
