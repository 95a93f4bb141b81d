r"""Span markers: what is written, what comes back, and faults that say where."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from record_strategies import records

from piiloom.corpus.markers import PRIVACYAI, TYPES, MarkerFault, MarkerSet, Unmarked, marked_text, marker_name, unmarked
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.foundation.errors import DataError
from tests.longer import case_by_case

# Texts made of what markers are made of.
PIECES = [
    "<",
    ">",
    "/",
    "\\",
    "\\\\",
    " ",
    " high",
    "low",
    "name",
    "<name>",
    "</name>",
    "<name high>",
    "</health>",
    "%5F",
    "%",
    "_",
    "é",
    "\n",
    "x",
]
SIGNS = ["@", "@@", "@@@", "#", "###", "####", "&&&", "$$$", "Q", "QQQ", "^^^", "%%%", "~~", "~~~", "\\", "\\\\", "\\#", " ", "\n", "x"]
tricky = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
tricky_signs = st.lists(st.sampled_from(SIGNS), max_size=14).map("".join)
type_names = st.one_of(
    st.text(min_size=1, max_size=6), st.sampled_from(["sexual orientation", "a_b", "name high", "</x>", "%41", "é", "high"])
)


@st.composite
def marked_contexts(draw: st.DrawFn, texts: st.SearchStrategy[str] = tricky) -> tuple[str, tuple[Span, ...]]:
    context = draw(texts)
    cuts = draw(st.lists(st.integers(0, len(context)), max_size=8, unique=True).map(sorted))
    spans = tuple(
        span(start, end, draw(type_names), draw(st.sampled_from(["high", "low", None])))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    )
    return context, spans


def span(start: int, end: int, entity_type: str, relevance: Relevance | None = None) -> Span:
    return Span(id=f"s{start}", start=start, end=end, entity_type=entity_type, relevance=relevance)


def signed(start: int, end: int, label: str) -> Span:
    entity_type, _, subtype = label.partition("/")
    return Span(id=f"s{start}", start=start, end=end, entity_type=entity_type, subtype=subtype or None)


def said(spans: tuple[Span, ...]) -> tuple[tuple[int, int, str, Relevance | None], ...]:
    return tuple((s.start, s.end, s.entity_type, s.relevance) for s in spans)


@case_by_case(
    ("context", "spans", "written"),
    [
        ("I have asthma.", [span(7, 13, "health", "high")], "I have <health high>asthma</health>."),
        ("gay", [span(0, 3, "sexual orientation", "low")], "<sexual_orientation low>gay</sexual_orientation>"),
        ("Dana", [span(0, 4, "name")], "<name>Dana</name>"),
        ("DanaBo", [span(0, 4, "name"), span(4, 6, "name")], "<name>Dana</name><name>Bo</name>"),
        ("Rex", [span(0, 3, "naïve_pet")], "<na%C3%AFve%5Fpet>Rex</na%C3%AFve%5Fpet>"),
        ("a <b> c < d", [], r"a \<b> c < d"),
        (r"a \<b>", [], r"a \\\<b>"),
        (r"C:\new \\ \n", [], r"C:\new \\ \n"),
        ("\\Bo\\", [span(1, 3, "name")], "\\\\<name>Bo</name>\\"),
        ("\\Bo\\", [span(0, 4, "name")], r"<name>\Bo\\</name>"),
        ("</name>", [span(0, 7, "code")], r"<code>\</name></code>"),
        ("<name medium> </name high> < name>", [], "<name medium> </name high> < name>"),
    ],
)
def test_what_is_written_and_comes_back(context: str, spans: list[Span], written: str) -> None:
    assert marked_text(context, spans) == written
    assert unmarked(written) == Unmarked(context, said(tuple(spans)))


@given(marked_contexts())
@example(("\\" * 1000 + "<a>" + "\\" * 999, (span(0, 1000, "a"), span(1003, 2002, "b"))))
def test_any_text_with_any_types_comes_back_exactly(case: tuple[str, tuple[Span, ...]]) -> None:
    context, spans = case
    assert unmarked(marked_text(context, spans)) == Unmarked(context, said(spans))


@case_by_case(
    ("context", "spans", "written"),
    [
        ("I am Dana Fox.", [signed(5, 13, "name")], "I am @@@Dana Fox###."),
        ("see x.org/d", [signed(4, 11, "code/url")], "see &&&x.org/d$$$"),
        ("d@x.org", [signed(0, 7, "code/email")], "QQQd@x.org^^^"),
        ("555-0100", [signed(0, 8, "code/phone")], "%%%555-0100~~~"),
        ("@Dana#1", [signed(1, 5, "name")], r"\@@@@Dana###\#1"),
        ("C#", [signed(0, 2, "name")], r"@@@C\####"),
        ("## ### ####", [], r"## \#\#\# \#\#\#\#"),
        (r"\### \#", [], r"\\\#\#\# \#"),
        ("\\Bo\\", [signed(1, 3, "name")], "\\\\@@@Bo###\\"),
    ],
)
def test_signs_that_are_written_come_back(context: str, spans: list[Span], written: str) -> None:
    assert marked_text(context, spans, PRIVACYAI) == written
    back = unmarked(written, markers=PRIVACYAI)
    assert back.context == context
    assert [signed(one.start, one.end, one.entity_type) for one in back.spans] == spans


@given(marked_contexts(tricky_signs), st.data())
@example(("@@" + "\\" * 999 + "###" + "#" * 1000, ()), None)
def test_any_text_with_signs_comes_back_exactly(case: tuple[str, tuple[Span, ...]], data: st.DataObject | None) -> None:
    context, places = case
    labels = st.sampled_from([pair.label for pair in PRIVACYAI.pairs])
    spans = [signed(one.start, one.end, data.draw(labels)) for one in places] if data else []
    found = unmarked(marked_text(context, spans, PRIVACYAI), markers=PRIVACYAI)
    assert (found.context, [signed(one.start, one.end, one.entity_type) for one in found.spans]) == (context, spans)


@given(tricky_signs)
def test_any_text_with_signs_has_a_fault_or_means_a_marked_text(text: str) -> None:
    found = read(text, PRIVACYAI)
    if not isinstance(found, MarkerFault):
        spans = [signed(one.start, one.end, one.entity_type) for one in found.spans]
        assert unmarked(marked_text(found.context, spans, PRIVACYAI), markers=PRIVACYAI) == found


def test_the_spans_that_have_a_sign() -> None:
    cases = {
        ("Dana Fox", "name", None): "name",
        ("Dana", "name", "first_name"): "name",
        ("dana84", "name", "username"): None,
        ("d@x.org", "code", None): "code/email",
        ("555-0100", "code", "phone"): "code/phone",
        ("555-0100", "code", None): None,
        ("https://x.org/d?a=1", "code", "profile_url"): "code/url",
        ("linkedin.com/in/dana", "code", None): "code/url",
        ("12.345.678", "code", None): None,
        ("asthma", "health", None): None,
    }
    for (value, entity_type, subtype), label in cases.items():
        found = Span(id="s", start=0, end=len(value), entity_type=entity_type, subtype=subtype)
        assert PRIVACYAI.label(found, value) == label, value
        assert (marked_text(value, [found], PRIVACYAI) == value) == (label is None), value


@given(records())
def test_any_record_comes_back_exactly(record: Record) -> None:
    assert unmarked(marked_text(record.context, record.spans)) == Unmarked(record.context, said(record.spans))


def read(text: str, markers: MarkerSet = TYPES) -> Unmarked | MarkerFault:
    try:
        return unmarked(text, markers=markers)
    except MarkerFault as fault:
        return fault


@given(tricky)
def test_any_text_has_a_fault_with_its_place_or_means_a_marked_text(text: str) -> None:
    found = read(text)
    if isinstance(found, MarkerFault):
        assert text[found.position] == "<"
    else:
        assert unmarked(marked_text(found.context, [span(*one) for one in found.spans])) == found


@case_by_case(
    ("text", "reason", "position"),
    [
        ("a <name>Dana", "<name> is never closed", 2),
        ("a </name>", "</name> closes nothing", 2),
        ("<name>Da <age>5</age></name>", "<age> stands inside the marker opened at position 0", 9),
        ("<name>Da</age>", "</age> closes the <name> opened at position 0", 8),
        ("<name></name>", "</name> has no text before it", 6),
        ("<%FF>x</%FF>", "<%FF> names no type: its %-codes are not UTF-8", 0),
    ],
)
def test_a_fault_says_what_and_where(text: str, reason: str, position: int) -> None:
    with pytest.raises(MarkerFault) as caught:
        unmarked(text)
    assert (caught.value.reason, caught.value.position) == (reason, position)
    assert str(caught.value) == f"{reason} (position {position})"


def test_only_known_types_are_accepted_if_they_are_given() -> None:
    with pytest.raises(MarkerFault, match=r"<b> names an unknown type \(position 12\)"):
        unmarked("<age>5</age><b>c</b>", known={"age"})
    assert unmarked(r"<age>5</age>\<b>", known={"age"}).context == "5<b>"


def test_a_type_without_a_name_is_refused() -> None:
    with pytest.raises(DataError, match="a type without a name"):
        marker_name("")


def test_long_texts_take_linear_time() -> None:
    text = "\\" * 500_000 + "<a" * 100_000 + "<" + "a" * 300_000
    assert unmarked(marked_text(text, [])).context == text
    text = "\\" * 500_000 + "#@" * 200_000 + "#" * 300_000
    assert unmarked(marked_text(text, [], PRIVACYAI), markers=PRIVACYAI).context == text
