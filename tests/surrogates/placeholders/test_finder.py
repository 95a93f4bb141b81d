"""The finder: what is found, what is left alone, what is reported."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import DataError
from piiloom.surrogates.placeholders import Finder, FoundTags, Mapping, Noted, TagRule
from tests.longer import case_by_case

FINDER = Finder()


def kinds(text: str, finder: Finder = FINDER) -> list[tuple[str, str]]:
    return [(text[m.start : m.end], m.kind) for m in finder.find(text).mentions]


@case_by_case(
    ("text", "expected"),
    [
        ("I met [NAME] in [CITY].", [("[NAME]", "person"), ("[CITY]", "city")]),
        ("Hi <STUDENT>, age <AGE>", [("<STUDENT>", "person"), ("<AGE>", "age")]),
        ("[**Hospital1 12**] on [**2151-7-16**]", [("[**Hospital1 12**]", "hospital"), ("[**2151-7-16**]", "date")]),
        ("[**Known lastname 123**], [**Age over 90 **]", [("[**Known lastname 123**]", "person"), ("[**Age over 90 **]", "age")]),
        (
            "{{city}} and [[NAME]] and ***NAME*** and __NAME__",
            [("{{city}}", "city"), ("[[NAME]]", "person"), ("***NAME***", "person"), ("__NAME__", "person")],
        ),
        ("$NAME$ %NAME% #NAME# @USERNAME", [("$NAME$", "person"), ("%NAME%", "person"), ("#NAME#", "person"), ("@USERNAME", "username")]),
        ("NAME_1 told PERSON2", [("NAME_1", "person"), ("PERSON2", "person")]),
        ("on XX/XX/XXXX and XX/XX/2019", [("XX/XX/XXXX", "date"), ("XX/XX/2019", "date")]),
        ("SSN XXX-XX-1234", [("XXX-XX-1234", "national_id")]),
        ("[REDACTED: phone number]", [("[REDACTED: phone number]", "phone")]),
        ('<PERSON id="2"/> came', [('<PERSON id="2"/>', "person")]),
        ("(AGE) years old", [("(AGE)", "age")]),
        ("born on [DATE], seen on [DATE]", [("[DATE]", "birth_date"), ("[DATE]", "date")]),
        ("Dr. ___ saw a ___ year old", [("___", "person"), ("___", "age")]),
        ("Mr. ████ came", [("████", "person")]),
        ("kenteken [AA-00-AA]", [("[AA-00-AA]", "licence_plate")]),
    ],
)
def test_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@case_by_case(
    "text",
    [
        "a<b and c>d",
        "if a<b and b>c:",
        "x > 3",
        "[sic]",
        "(2)",
        "arr[i]",
        "List<int>",
        "[…]",
        "[...]",
        "[is]",
        "[they]",
        "[1] [12, 13]",
        "see [text](url)",
        "<b>bold</b>",
        "<br/>",
        "<div class='name'>x</div>",
        "<name>Jo</name>",
        "</NAME> <NAME>Jo</NAME>",
        "(AG)",
        "row[name] = 1",
        "Optional<Name> x",
        "[ ] a [X] b",
        "\\frac{name}{city}",
        "${NAME}",
        '{"name": "Jo", "age": 3}',
        "[name](https://example.org)",
        "<unk>",
        "<s>",
        "#include <string>",
        "**NAME**\nJo",
        "COVID-19",
        "HTN, MRI, CPAP and B12",
        "we [his wife] said",
        "{1, 2}",
        "[a-z]+",
        "f(x)[0]",
        "[10:32]",
        "[2010-01-02]",
        "`x[age]`==3",
        "C++ <vector>",
        "Dr. J. Smith",
        "[TV]",
    ],
)
def test_real_brackets_are_left_alone(text: str) -> None:
    assert FINDER.find(text).mentions == []


def test_what_is_left_is_counted() -> None:
    text = "[sic] and (2) and <b>x</b> [NAME]"
    assert [text[start:end] for start, end in FINDER.find(text).left] == ["[sic]", "(2)", "<b>", "</b>"]


def test_what_a_tag_bears_is_the_original() -> None:
    text = "<<PATIENT:Jack Smith>>, <<AGE:77>>, [date: 2010-01-02], <<LOCATION:12 High Street, Leeds>>"
    found = FINDER.find(text).mentions
    assert [(m.kind, m.original) for m in found] == [
        ("person", "Jack Smith"),
        ("age", "77"),
        ("date", "2010-01-02"),
        ("address", "12 High Street, Leeds"),
    ]
    assert found[0].role == "patient"


def test_a_date_before_a_year_has_none() -> None:
    found = FINDER.find("geboren op [datum] 1948, op [datum] in 2010").mentions
    assert [(m.kind, m.form) for m in found] == [("birth_date", "day_and_month"), ("date", "")]


def test_equal_indexes_and_roles_belong_together() -> None:
    found = FINDER.find("[appellant sub 18], [Appellante sub 18] en [appellanten sub 8], [appellant sub 18 B]").mentions
    assert [(m.role, m.index) for m in found] == [("appellant", "18"), ("appellant", "18"), ("appellant", "8"), ("appellant", "18b")]
    assert [m.plural for m in found] == [False, False, True, False]


def test_the_text_tells_whether_a_party_is_a_company() -> None:
    text = "[appellante sub 2], gevestigd te [plaats]. [appellante sub 2] stelt. [appellant sub 3], wonend te [woonplaats]."
    assert [m.kind for m in FINDER.find(text).mentions] == ["company", "city", "company", "person", "city"]


def test_letters_mean_what_stands_around_them() -> None:
    text = "Presents to ABCD General Hospital. Works for ABC. Sees Dr. XYZ. ABC is big."
    assert kinds(text) == [("ABCD", "city"), ("ABC", "employer"), ("XYZ", "person")]  # the last is not sure enough without a survey


def test_unknown_tags_are_reported_and_never_guessed() -> None:
    text = "The [FLURB] and <QUUX_2> with [0001] and [REDACTED] and [flurb 3]"
    found = FINDER.find(text)
    assert found.mentions == []
    assert [text[u.start : u.end] for u in found.unknown] == ["[FLURB]", "<QUUX_2>", "[0001]", "[REDACTED]", "[flurb 3]"]
    assert all(u.why for u in found.unknown)


def test_generic_makes_unknown_tags_mentions() -> None:
    found = Finder(on_unknown="generic").find("The [FLURB] of [NAME] and the [flurb]")
    assert [(m.kind, m.role) for m in found.mentions] == [("generic", "[flurb]"), ("person", "name")]
    assert len(found.unknown) == 1


def test_error_names_the_place_and_not_the_text() -> None:
    with pytest.raises(DataError) as caught:
        Finder(on_unknown="error").find("The [FLURB]", where="notes.txt:3")
    assert "notes.txt:3: characters 4 to 11" in str(caught.value)
    assert "FLURB" not in str(caught.value)


def test_a_mapping_decides() -> None:
    rules = (
        TagRule(tag="[FLURB]", kind="city", role="flurb"),
        TagRule(tag="[NAME]", kind="company", same="document"),
        TagRule(tag="~{index}~", kind="person", role="wave"),
        TagRule(regex=r"@@(?P<index>\d+)@(?P<original>\w+)@", kind="phone"),
        TagRule(tag="Pt. {letter}", kind="person", role="patient"),
        TagRule(tag="[CITY]", kind="city", use=False),
    )
    finder = Finder(Mapping(rules=rules, unknown=(Noted(tag="[AGE]"),), left_alone=(Noted(tag="[DATE]"),)))
    text = "[FLURB] [NAME] ~7~ @@12@abc@ Pt. Q [CITY] [AGE] [DATE] [NAME_2]"
    found = finder.find(text)
    assert [(text[m.start : m.end], m.kind, m.index, m.original) for m in found.mentions] == [
        ("[FLURB]", "city", "", ""),
        ("[NAME]", "company", "", ""),
        ("~7~", "person", "7", ""),
        ("@@12@abc@", "phone", "12", "abc"),
        ("Q", "person", "q", ""),
        ("[NAME_2]", "person", "2", ""),
    ]
    assert [text[u.start : u.end] for u in found.unknown] == ["[CITY]", "[AGE]"]
    assert [text[start:end] for start, end in found.left] == ["[DATE]"]
    assert found.mentions[0].rule == "[FLURB]"


def test_unlisted_tags_can_be_reported() -> None:
    finder = Finder(Mapping(rules=(TagRule(tag="[NAME]", kind="person"),), unlisted="report"))
    found = finder.find("[NAME] of [CITY]")
    assert ([m.rule for m in found.mentions], [u.why for u in found.unknown]) == (["[NAME]"], ["not in the mapping"])


@pytest.mark.long
def test_a_catastrophic_pattern_is_stopped() -> None:
    mapping = Mapping(rules=(TagRule(regex=r"(a|aa)+$", kind="person", line=12),), file="map.yaml")
    with pytest.raises(DataError, match=r"map\.yaml:12: the pattern of this rule took more than"):
        Finder(mapping).find("a" * 60 + "b")


def test_finders_can_be_pickled_by_their_mapping() -> None:
    mapping = Mapping(rules=(TagRule(tag="[FLURB]", kind="city"),))
    copy = pickle.loads(pickle.dumps(mapping))  # noqa: S301 - made here
    assert Finder(copy).find("[FLURB]").mentions == Finder(mapping).find("[FLURB]").mentions


_PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "[NAME]",
                "[",
                "]",
                "<",
                ">",
                "<<",
                ">>",
                "[[",
                "]]",
                "{{",
                "}}",
                "(",
                ")",
                "[**",
                "**]",
                "NAME",
                "NAME_1",
                "Dr. X",
                "ABC",
                " ",
                "\n",
                "sub 18",
                ":",
                "[appellant sub 3]",
                "<<PATIENT:Jo>>",
                "___",
                "█",
                "XXX",
                "***",
                "#",
                "$",
                "%",
                "@USER",
                "[DATE]",
                "a-straat 1",
                "’s",
                "geboren op ",
                "é",
                "𝒳",
                "\u200b",
            ]
        ),
        st.text(max_size=6),
    ),
    max_size=24,
).map("".join)


def _ranges(found: FoundTags) -> list[tuple[int, int]]:
    return sorted([(m.start, m.end) for m in found.mentions] + [(u.start, u.end) for u in found.unknown] + found.left)


@given(_PIECES)
def test_all_that_is_found_is_sorted_disjoint_and_inside(text: str) -> None:
    found = FINDER.find(text)
    places = _ranges(found)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))
    assert [m.start for m in found.mentions] == sorted(m.start for m in found.mentions)
    assert [u.start for u in found.unknown] == sorted(u.start for u in found.unknown)


@given(_PIECES)
def test_what_is_cut_out_is_found_again_as_the_rule_says(text: str) -> None:
    for mention in FINDER.find(text).mentions:
        piece = text[mention.start : mention.end]
        if "{letter}" in mention.rule or not piece.startswith(("[", "<", "{")):
            continue  # these need what stands before them
        again = FINDER.find(piece).mentions
        assert [(m.start, m.end, m.role, m.index, m.rule) for m in again] == [(0, len(piece), mention.role, mention.index, mention.rule)]


@given(_PIECES)
def test_nothing_is_found_in_what_remains_when_all_is_taken_out(text: str) -> None:
    found = FINDER.find(text)
    remains = list(text)
    for mention in found.mentions:
        remains[mention.start : mention.end] = ["·"] * (mention.end - mention.start)
    rest = FINDER.find("".join(remains))
    taken = {place for m in found.mentions for place in range(m.start, m.end)}
    assert all(not taken & set(range(m.start, m.end)) for m in rest.mentions)


@given(
    st.text(alphabet=st.characters(whitelist_categories=["Ll", "Nd", "Zs", "Po"], blacklist_characters="#*?•"), max_size=200)
)  # signs of masks
def test_plain_text_has_no_placeholders(text: str) -> None:
    found = FINDER.find(text)
    assert (found.mentions, found.unknown) == ([], [])
