"""The redacted corpora of the project, replaced by whole runs with learnt mappings, and everything that is to hold of the result."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import Any

import pytest

from piiloom.surrogates.documents import OffsetMap
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.placeholders import Finder, Unknown
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import mostly_long
from tests.shared_files import of_whole, shared
from tests.surrogates.whole_runs import WholeRun, check_balance, check_genders, check_one_to_one, whole_run

DATA = shared("data")

# Where each lies, how it is read, its locale, its documents and its placeholders.
CORPORA: dict[str, tuple[str, dict[str, Any], str, int, int]] = {
    "goemotions": (
        "goemotions/placeholders.tsv",
        {"header": False, "text_fields": ("1",), "id_field": "3"},
        "en_US",
        *of_whole((4000, 5067), (149, 180)),
    ),
    "rechtspraak_nl": ("rechtspraak_nl", {}, "nl_NL", *of_whole((35, 1871), (3, 72))),
    "obi_ehr_notes": ("obi_ehr_notes/deid.jsonl", {"text_fields": ("deid_text",)}, "en_US", *of_whole((4, 78), (3, 28))),
    "mts_dialog": (
        "mts_dialog/MTS_Dataset_TrainingSet.csv",
        {"text_fields": ("section_text", "dialogue")},
        "en_US",
        *of_whole((2402, 244), (100, 11)),
    ),
}
SIGNS = frozenset("[]<>{}*")
# Tags by their bare form, found without our compiler; brackets of the judgments are compared one by one.
BARE = {
    "goemotions": re.compile(r"\[(?:NAME|RELIGION)\]"),
    "obi_ehr_notes": re.compile(r"<<|>>|(?:PATIENT|DATE|HOSPITAL|LOCATION|AGE|PHONE|ID|STAFF):"),
    "mts_dialog": re.compile(r"\b(?:ABCD?|A B C(?: D)?|XYZ|X Y Z|ASDF|Month DD?)\b|\b(?:Dr|Mr|Mrs|Ms)\. [A-Z]\b(?![.'’-])"),
    "rechtspraak_nl": re.compile(
        r"\[(?:appellante?n?|eiser(?:es)?|verdachte|slachtoffer|betrokkene|maat|vennoot|persoon|locatie)\b[^\]]*\]"
    ),
}
RUNS: dict[str, WholeRun] = {}


@pytest.fixture(params=mostly_long(CORPORA, quick={"rechtspraak_nl", "obi_ehr_notes"}))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    """A corpus's run; each is made once."""
    return run_of(request.param, tmp_path_factory)


def run_of(name: str, tmp_path_factory: pytest.TempPathFactory) -> WholeRun:
    if name not in RUNS:
        inner, settings, locale, _, _ = CORPORA[name]
        inputs = SourceSettings(path=DATA / inner, **settings)
        RUNS[name] = whole_run(inputs, tmp_path_factory.mktemp(name) / name, locale=locale)
    return RUNS[name]


def test_every_code_point_outside_of_replacements_is_identical(run: WholeRun) -> None:
    _, _, _, documents, replaced = CORPORA[run.out.name]
    checked = verify_folder(run.out, run.source)
    assert (checked.documents, checked.ranges) == (documents, replaced) == (run.report["documents"], run.report["replaced"]["total"])
    same = 0
    for document, _, _, record, mapped in run.rows():
        offsets = OffsetMap(mapped["ranges"])
        originals = [document.text[start:end] for start, end, _, _ in offsets.ranges]
        assert offsets.restore(record["context"], originals) == document.text
        same += len(document.text) - sum(map(len, originals))
    assert same == checked.same


def test_all_known_placeholders_and_nothing_else_are_replaced(run: WholeRun) -> None:
    for document, found, _, _, mapped in run.rows():
        assert [tuple(one[:2]) for one in mapped["ranges"]] == [(m.start, m.end) for m in found.mentions], document.id


def test_no_known_placeholder_is_left(run: WholeRun) -> None:
    finder, bare = Finder(run.mapping), BARE[run.out.name]
    assert any(bare.search(document.text) for document in run.documents)
    for record in run.records:
        again = finder.find(record["context"])
        assert again.mentions == []
        assert not bare.search(record["context"])


def test_real_brackets_and_unknown_tags_stay_and_are_listed(run: WholeRun) -> None:
    finder = Finder(run.mapping)
    unknown: Counter[str] = Counter()
    left = 0
    for document, found, _, record, mapped in run.rows():
        told = [document.text[one.start : one.end] for one in found.unknown]
        unknown.update(told)
        left += len(found.left)
        offsets = OffsetMap(mapped["ranges"])
        for start, end in [*found.left, *((one.start, one.end) for one in found.unknown)]:
            moved = slice(offsets.to_output(start), offsets.to_output(end, end=True))
            assert record["context"][moved] == document.text[start:end]
        # Brackets around what was put in aside, the output's unknown tags are the input's.
        again = [one for one in finder.find(record["context"]).unknown if not touches(one, offsets)]
        assert [record["context"][one.start : one.end] for one in again] == told
    assert run.report["unknown"] == {"total": unknown.total(), "tags": dict(unknown)}
    assert run.report["left_alone"]["total"] == left
    assert bool(unknown) == any("unknown meaning" in warning for warning in run.report["warnings"])


def touches(place: Unknown, offsets: OffsetMap) -> bool:
    """Whether something in *place*, of an output text, was put in."""
    return any(new_start < place.end and new_end > place.start for _, _, new_start, new_end in offsets.ranges)


def test_one_person_for_each_role_and_index(run: WholeRun) -> None:
    check_one_to_one(run)


def test_the_report_tells_of_no_person_torn_or_mixed(run: WholeRun) -> None:
    assert run.report["engine"]["consistency"]["people_torn_or_mixed"] == 0


def test_groups_are_balanced_as_far_as_the_texts_leave_open(run: WholeRun) -> None:
    check_balance(run.report["engine"]["people"])


def test_genders_that_the_texts_tell_are_those_of_the_names(run: WholeRun) -> None:
    looked = check_genders(run)
    least = {"goemotions": of_whole(700, 20), "obi_ehr_notes": of_whole(5, 2), "mts_dialog": 0, "rechtspraak_nl": of_whole(1, 0)}
    assert looked >= least[run.out.name]


def test_each_span_is_exact_and_typed(run: WholeRun) -> None:
    types = {entity.name: {subtype.name for subtype in entity.subtypes} for entity in shipped_taxonomy().types.values()}
    for document, _, plan, record, _ in run.rows():
        for mention, span in zip(plan.mentions, record["spans"], strict=True):
            value, kind = span["text"], KINDS[mention.kind]
            assert record["context"][span["start"] : span["end"]] == value == value.strip() != "", document.id
            assert span["type"] == kind.entity_type
            assert span.get("subtype") is None or span["subtype"] in types[span["type"]]
            assert span.get("subtype") == kind.subtype or mention.kind == "person"
            assert span["value_id"]
            assert not SIGNS & set(value), (document.id, value)
    counts = Counter(span["type"] for record in run.records for span in record["spans"])
    assert sum(run.report["replaced"]["by_type"].values()) == counts.total()


# What only some of the corpora can show


def test_a_numbered_party_keeps_its_family_name_through_a_long_judgment(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = run_of("rechtspraak_nl", tmp_path_factory)
    (row,) = [row for row in run.rows() if row[0].id.startswith("ECLI.NL.RVS.2015.3394")]
    document, _, plan, record, _ = row
    assert len(document.text.encode()) > of_whole(190_000, 12_000)
    names: dict[tuple[str, str], list[str]] = defaultdict(list)
    for mention, span in zip(plan.mentions, record["spans"], strict=True):  # where "[appellant sub 4]" is 4B, as 4A is a company
        if mention.kind == "person" and mention.index and not mention.plural:
            names[mention.role, mention.index].append(span["text"])
    assert len([one for one in names if one[0] == "appellant"]) > of_whole(15, 10)
    families = set()
    for written in names.values():
        family = min(written, key=len)
        assert len(family) > 1
        # "[appellant sub 6]" is A and B, where those are named: "S. Ramdeen en M. Kacharava".
        parts = family.casefold().split(" en ")
        for name in written:
            named = name.casefold().split(" en ")
            assert all(one.endswith(part) for one, part in zip(named, parts, strict=True)), written
        assert len(set(written)) <= 3, written  # full, formal and family name alone
        families.add(family)
    assert len(families) == len(names)  # nobody shares it with another
    several = [
        (mention, span["text"])
        for mention, span in zip(plan.mentions, record["spans"], strict=True)
        if mention.plural and mention.kind == "person"
    ]
    assert several
    for mention, text in several:
        parts = [min(names[mention.role, mention.index + letter], key=len) for letter in "ab"]
        assert [part.casefold() in text.casefold() for part in parts] == [True, True], (parts, text)


def test_known_names_of_one_patient_stay_one_person(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = run_of("obi_ehr_notes", tmp_path_factory)
    for document, found, _, record, _ in run.rows():
        ids = defaultdict(set)
        for mention, span in zip(found.mentions, record["spans"], strict=True):
            if mention.kind == "person":
                ids[mention.original.casefold()].add(span["value_id"])
            assert mention.original.casefold() != span["text"].casefold() or mention.kind == "age", (document.id, span["id"])
        assert all(len(one) == 1 for one in ids.values())
