"""The recipe ``case`` leaves out what readers would dispute, says values as their writer does, and puts again what gives something away."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.corpus.alignment import strip_marks
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Judgement
from piiloom.generation.item import MAIN, NOTHING, ONE_POINT, Case, Item, ItemValue, LedgerLine, LedgerQuestion
from piiloom.generation.stage import Fault, ItemRejected
from piiloom.generation.stages.audit import stretches
from piiloom.generation.stages.ledger import read_line, without_disputable
from piiloom.generation.stages.sheet import adds_figures
from piiloom.generation.stages.verdict import contradictions, relabelled
from tests.fakes.llm_server import LLMServer
from tests.generation.case_author import CaseAuthor
from tests.generation.llm_runs import config_for, read_back, set_keys, start
from tests.generation.scripted_provider import PLAN


def value(name, kind):
    return ItemValue(id=name, entity_type=kind, subtype=None, text=f"word{name}", relevance="low", subject="self")


def question(weights, draft="Why?"):
    lines = tuple(read_line(name, line(weight)) for name, weight in weights.items())
    return LedgerQuestion(draft=draft, ledger=lines)


def line(weight):
    return {"swapped_for": "another", "change": None if weight == NOTHING else "Then do it at once.", "weight": weight}


def item_with(kinds, *questions):
    case = Case(situation="So it is.", decisions=("whether",), uses={}, struck={}, questions=questions)
    return Item(plan=replace(PLAN, pair=("age", "health")), values=tuple(value(name, kind) for name, kind in kinds.items()), case=case)


def judgement(name, score):
    rest = {"span_id": "s1", "planned": "low", "verdict": "low", "agrees": True, "reason": "So.", "provider": "p", "model": "m"}
    return Judgement(kind="relevance", value_id=name, score=score, **rest)


FIVE = {"v1": "age", "v2": "health", "v3": "location", "v4": "finance", "v5": "age"}


def test_a_value_that_changes_one_point_is_not_told():
    told = without_disputable(item_with(FIVE, question({"v1": MAIN, "v2": NOTHING, "v3": ONE_POINT, "v4": NOTHING, "v5": NOTHING})))
    assert [kept.id for kept in told.values] == ["v1", "v2", "v4", "v5"]
    assert told.case.untold == ("wordv3",)
    assert "either label" in told.case.struck["v3"]
    assert [entry.value for entry in told.case.questions[0].ledger] == ["v1", "v2", "v4", "v5"]


def test_a_tie_to_somebody_of_whom_other_values_tell_is_told():
    item = item_with(FIVE | {"v3": "relationship"}, question({"v1": MAIN, "v2": NOTHING, "v3": ONE_POINT, "v4": NOTHING, "v5": NOTHING}))
    for subjects, told in (({}, False), ({"v3": "brother"}, False), ({"v3": "brother", "v5": "brother"}, True)):
        values = tuple(replace(one, subject=subjects.get(one.id, "self")) for one in item.values)
        assert ("v3" in {kept.id for kept in without_disputable(replace(item, values=values)).values}) is told


def test_a_value_that_a_question_names_is_told():
    weights = {"v1": MAIN, "v2": NOTHING, "v3": ONE_POINT, "v4": NOTHING, "v5": NOTHING}
    told = without_disputable(item_with(FIVE, question(weights, draft="What about wordv3?")))
    assert [kept.id for kept in told.values] == list(FIVE)


def test_a_value_that_another_question_turns_on_is_told():
    one = question({"v1": MAIN, "v2": NOTHING, "v3": ONE_POINT, "v4": NOTHING, "v5": NOTHING})
    other = question({"v1": NOTHING, "v2": NOTHING, "v3": MAIN, "v4": NOTHING, "v5": NOTHING})
    told = without_disputable(item_with(FIVE, one, other))
    assert [kept.id for kept in told.values] == list(FIVE)
    assert one.deciding == {"v1"}
    assert one.disputable == {"v3"}


def test_both_types_of_the_pair_and_enough_values_stay():
    all_disputed = question({"v1": MAIN, "v2": ONE_POINT, "v3": ONE_POINT, "v4": ONE_POINT, "v5": ONE_POINT})
    told = without_disputable(item_with(FIVE, all_disputed))
    assert len(told.values) == 3
    assert {"age", "health"} <= {kept.entity_type for kept in told.values}


@pytest.mark.parametrize(("change", "weight"), [(None, MAIN), (None, ONE_POINT), ("Go now.", NOTHING), ("  ", MAIN)])
def test_a_line_whose_weight_belies_it_is_refused(change, weight):
    with pytest.raises(Fault, match="weight"):
        read_line("v1", {"swapped_for": "another", "change": change, "weight": weight})


def test_an_old_line_decides():
    assert LedgerLine(value="v1", swapped_for="b", change="Go.").aside is False
    assert LedgerQuestion(draft="Why?", ledger=(LedgerLine(value="v1", swapped_for="b", change="Go."),)).deciding == {"v1"}


@pytest.mark.parametrize(
    ("grades", "labels"),
    [
        ({"v1": 4, "v2": 0, "v3": 1}, {}),
        ({"v1": 2, "v2": 0, "v3": 0}, {}),
        ({"v1": 4, "v2": 0, "v3": 2}, {"v3": "high"}),
        ({"v1": 1, "v2": 3, "v3": 0}, {"v1": "low", "v2": "high"}),
        ({"v1": 1, "v2": 0, "v3": 0}, {"v1": "low"}),
        ({"v1": 4, "v2": 3, "v3": 2}, {"v2": "high", "v3": "high"}),
    ],
)
def test_a_contradicted_label_becomes_the_judge_s(grades, labels):
    item = item_with({"v1": "age", "v2": "health", "v3": "location"})
    values = tuple(replace(one, relevance="high" if one.id == "v1" else "low") for one in item.values)
    judged = replace(item, values=values, judgements=tuple(judgement(name, grade / 4) for name, grade in grades.items()))
    assert contradictions(judged) == labels
    high = sum(grade >= 2 for grade in grades.values())
    if high in (0, 3):
        with pytest.raises(ItemRejected, match="no value matters" if not high else "3 of 3"):
            relabelled(judged, labels)
    else:
        after = relabelled(judged, labels)
        assert {one.id for one in after.values if one.relevance == "high"} == {name for name, grade in grades.items() if grade >= 2}


class Recording(CaseAuthor):
    """Keeps the prompts that it answered, by schema."""

    def __init__(self, seed):
        super().__init__(seed)
        self.prompts = defaultdict(list)

    def __call__(self, request):
        self.prompts[request.schema_name].append(request.user)
        return super().__call__(request)


class Doubtful(Recording):
    """All facts but the first are in dispute under the first question; the others are clean."""

    def __call__(self, request):
        reply = super().__call__(request)
        if request.schema_name == "case_questions":
            first = reply["questions"][0]
            first["question"] = f"Doubtful: {first['question']}"
            for entry in first["ledger"]:
                if entry["weight"] == NOTHING:
                    entry |= {"change": "Bring one more form.", "weight": ONE_POINT}
        return reply


class Rewording(Recording):
    """Says one value of each text otherwise: ``into`` makes the new words from the old ones."""

    def __init__(self, seed, into):
        super().__init__(seed)
        self.into = into

    def __call__(self, request):
        reply = super().__call__(request)
        if request.schema_name == "case_sheet" and "could not be used" not in request.user:
            given = dict(re.findall(r"^- (v\d+): (.*?) \(", request.user, re.MULTILINE))
            reply["facts"][0]["said"] = self.into(given[reply["facts"][0]["id"]])
        return reply


class Missing(Recording):
    """Its audit finds a word of each text that nobody listed, one that the questions hold as they were put first."""

    def __init__(self, seed):
        super().__init__(seed)
        self.found = set()

    def __call__(self, request):
        reply = super().__call__(request)
        if request.schema_name == "case_audit":
            words = re.findall(r"\b[a-z]{5,}\b", request.user.split("Text:")[1].split("Question 1:")[0])
            asked = request.user.split("Question 1:")[1].split("Question 2:")[0].casefold()
            listed = request.user.rpartition("Listed already:")[2].casefold()
            shared = next((word for word in words if word in re.findall(r"\w+", asked) and word not in listed), None)
            if shared is not None:
                self.found.add(shared)
                reply["missed"].append({"where": "text", "quote": shared, "kind": "health", "holder": "self"})
        return reply


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


def run(path, author, **settings):
    with LLMServer(author) as server, Store.open(path) as store:
        progress = start(store, config_for("openai", server, recipe="case", **settings))
        return progress, read_back(store)


@pytest.mark.long
def test_the_questions_that_leave_least_to_dispute_are_asked(tmp_path):
    author = Doubtful(3)
    progress, kept = run(tmp_path / "s.duckdb", author, samples=6)
    assert progress.accepted == 6
    drafts = [re.search(r"^Question: (.*)$", prompt, re.MULTILINE)[1] for prompt in author.prompts["case_question"]]
    assert drafts
    assert not any(asked.startswith("Doubtful") for asked in (*drafts, *(record.question for record in kept.records)))


@pytest.mark.long
def test_a_value_is_said_as_its_writer_would(tmp_path):
    author = Rewording(3, lambda given: "quite zzyzx" if given[0].isalpha() else given)
    _, kept = run(tmp_path / "s.duckdb", author, samples=6)
    said = [span.text_in(record.context) for record in kept.records for span in record.spans]
    assert any(text.casefold() == "quite zzyzx" for text in said)


class LongWinded(Recording):
    """Writes as many words as a text may have at most."""

    def __call__(self, request):
        reply = super().__call__(request)
        if request.schema_name == "case_post":
            most = int(re.search(r"\(\d+ to (\d+)\)", request.user)[1])
            spare = most - len(re.findall(r"\w+", strip_marks(reply["text"]).text)) - 2
            reply["text"] = f"{reply['text']} {' '.join(['moss'] * spare)}."
        return reply


@pytest.mark.long
def test_a_text_may_be_as_long_as_its_values_need(tmp_path):
    progress, kept = run(tmp_path / "s.duckdb", LongWinded(3), samples=8)
    assert progress.accepted == 8
    assert not kept.rejects


def test_figures_are_not_said_otherwise(tmp_path):
    author = Rewording(3, lambda _: "about 4711")
    progress, kept = run(tmp_path / "s.duckdb", author, samples=4)
    assert progress.accepted == 4
    assert not any("4711" in record.context for record in kept.records)
    assert any("names and codes stay, and no number is added" in prompt for prompt in author.prompts["case_sheet"])


@pytest.mark.long
def test_a_question_that_gives_away_what_the_audit_found_is_put_once_more(tmp_path):
    author = Missing(5)
    progress, kept = run(tmp_path / "s.duckdb", author, samples=6)
    assert progress.accepted == 6
    assert not [row for row in kept.rejects if row.stage == "screen"]
    assert author.found
    for record in kept.records:
        for word in author.found & {span.text_in(record.context) for span in record.spans}:
            assert not re.search(rf"\b{word}\b", record.question, re.IGNORECASE)


class Keeping(Recording):
    """Keeps too few of the identifiers, or too many, at first."""

    def __init__(self, seed, *, few):
        super().__init__(seed)
        self.few = few

    def __call__(self, request):
        reply = super().__call__(request)
        starred = re.findall(r"^- (v\d+): .* \*\)$", request.user, re.MULTILINE)
        if request.schema_name == "case_sheet" and starred and "could not be used" not in request.user:
            use = {"strike": None, "holder": "self", "said": "", "use": "it is on the form"}
            no_use = {"strike": "no place", "holder": "", "said": "", "use": ""}
            reply["facts"] = [fact | (no_use if self.few else use) if fact["id"] in starred else fact for fact in reply["facts"]]
        return reply


@pytest.mark.parametrize("few", [True, False])
def test_a_text_keeps_as_many_identifiers_as_its_voice_has(tmp_path, few):
    author = Keeping(3, few=few)
    progress, _ = run(tmp_path / "s.duckdb", author, samples=8, no_pii_share=0)
    assert progress.accepted == 8
    assert any("with a star are left" in prompt for prompt in author.prompts["case_sheet"])


@pytest.mark.parametrize(
    ("said", "given", "kind", "same"),
    [
        ("March 14", "03/14/2021", "datetime", True),
        ("04.10.2022", "4. Oktober 2022", "datetime", True),
        ("$290", "$290.00", "finance", True),
        ("$2,500", "$2500", "finance", True),
        ("3:05 p.m.", "15:05", "datetime", True),
        ("12:30 am", "00:30", "datetime", True),
        ("4 pm", "15:05", "datetime", False),
        ("the 15th", "03/14/2021", "datetime", False),
        ("the 14th of Oct", "4. Oktober 2022", "datetime", False),
        ("May 9", "May 14", "datetime", False),
        ("the 3rd of May", "May 14, 2021", "datetime", False),
        ("5 pm", "3 pm", "datetime", False),
        ("3 weeks", "two days", "datetime", False),
        ("3 loans", "student loans", "finance", False),
    ],
)
def test_dates_and_sums_may_be_written_otherwise(said, given, kind, same):
    value = ItemValue(id="v1", entity_type=kind, subtype=None, text=given, relevance="low", subject="self")
    assert adds_figures(said, value) is not same


class Forced(Recording):
    """Its sheet adds a value to each text: *entry*, with the first free id unless it brings one."""

    def __init__(self, seed, **entry):
        super().__init__(seed)
        self.entry = {"kind": "health", "holder": "Mother", "said": "quite zzyzx", "use": "the leave is for it"} | entry

    def __call__(self, request):
        reply = super().__call__(request)
        if request.schema_name == "case_sheet" and "could not be used" not in request.user:
            reply["more"] = [{"id": re.search(r"Its ids: (v\d+),", request.user)[1]} | self.entry]
        return reply


def test_what_the_matter_cannot_do_without_is_a_value_with_lines_of_its_own(tmp_path):
    author = Forced(3)
    progress, kept = run(tmp_path / "s.duckdb", author, samples=6)
    assert progress.accepted == 6
    for record in kept.records:
        (added,) = [span for span in record.spans if span.text_in(record.context).casefold() == "quite zzyzx"]
        assert (added.entity_type, added.subject) == ("health", "mother")
    assert all("quite zzyzx (health, mother): the leave is for it" in prompt for prompt in author.prompts["case_questions"])
    assert all('"quite zzyzx"' in prompt.rpartition("Listed already:")[2] for prompt in author.prompts["case_audit"])


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"id": "v99"}, "the ids under more are"),
        ({"kind": "weather"}, "is not among the kinds"),
        ({"use": " "}, "needs a holder and a use"),
        ({"said": "a {brace}"}, "one to eight words"),
    ],
)
def test_a_value_that_can_be_none_is_asked_for_again(tmp_path, entry, told):
    author = Forced(3, **entry)
    progress, kept = run(tmp_path / "s.duckdb", author, samples=2)
    assert progress.accepted == 2
    assert not any("zzyzx" in record.context for record in kept.records)
    assert any(told in prompt for prompt in author.prompts["case_sheet"])


class Skipping(Recording):
    """Its audit reads all stretches of a text but the last, at first."""

    def __call__(self, request):
        reply = super().__call__(request)
        if request.schema_name == "case_audit" and "could not be used" not in request.user:
            reply["tells"] = reply["tells"][:-1]
        return reply


def test_an_audit_that_leaves_a_stretch_out_is_asked_for_again(tmp_path):
    author = Skipping(3)
    progress, _ = run(tmp_path / "s.duckdb", author, samples=2)
    assert progress.accepted == 2
    assert any("entries under tells" in prompt for prompt in author.prompts["case_audit"])


def test_a_date_is_no_end_of_a_stretch():
    assert stretches("Am 10. Juli war es so. Dann ging es") == ["Am 10. Juli war es so.", "Dann ging es"]


@given(st.text(alphabet="ab.?!\n ÄÉ,'", max_size=400))
def test_stretches_leave_no_word_out(text):
    pieces = stretches(text)
    assert " ".join(pieces).split() == text.split()
    assert all(len(piece.split()) <= 36 for piece in pieces)
