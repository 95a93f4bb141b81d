"""Examples are drawn so that types are shown evenly, always the same ones, and never of the text's own group."""

from __future__ import annotations

from collections import Counter

import pytest

from piiloom.corpus.formats.instruction_tuning import message_parts
from piiloom.corpus.markers import PRIVACYAI, unmarked
from piiloom.corpus.record import Record, Span
from piiloom.detection.marking.marking_detector import Shots
from piiloom.foundation.errors import DataError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.detection.training_rows import row, write_jsonl

TYPES = ("name", "age", "health", "location", "occupation", "finance")


def record(number, types, *, group=None, text=None, question="Can I?", relevance="high"):
    words = [f"{kind.replace(' ', '')}{number}" for kind in types]
    context = text or f"{number}: {' and '.join(words)}."
    spans, at = [], 0
    for place, (kind, word) in enumerate(zip(types, words, strict=True)):
        at = context.index(word, at) if text is None else at
        spans.append(Span(id=str(place), start=at, end=at + (len(word) if text is None else 1), entity_type=kind, relevance=relevance))
        at += len(word) if text is None else 1
    return Record(id=f"r{number}", context=context, question=question, spans=tuple(spans), group_keys=(group,) if group else ())


def shots(records, count, **options):
    return Shots(
        records,
        count,
        seed=options.pop("seed", 7),
        longest=options.pop("longest", 4000),
        where="train.jsonl",
        taxonomy=shipped_taxonomy(),
        **options,
    )


def contexts(messages):
    return [message_parts(one.content)[0] for one in messages[::2]]


def test_types_are_shown_evenly_though_one_is_everywhere():
    records = [record(number, ("name",)) for number in range(60)]
    records += [record(100 + number, (kind, "name")) for number, kind in enumerate(TYPES[1:])]
    records += [record(200 + number, (kind,)) for number, kind in enumerate(TYPES[1:])]
    messages = shots(records, 6).messages("other", relevance=True)
    shown = Counter(span.entity_type for one in messages[1::2] for span in unmarked(one.content).spans)
    assert [one.role for one in messages] == ["user", "assistant"] * 6
    assert set(shown) == set(TYPES)
    assert max(shown.values()) - min(shown.values()) <= 1


def test_examples_with_signs_have_a_value_with_a_sign_and_no_question():
    records = [record(number, (TYPES[number % 6],)) for number in range(30)]
    messages = shots(records, 4, markers=PRIVACYAI).messages("x", relevance=False)
    assert len(messages) == 8
    for asked, answer in zip(messages[::2], messages[1::2], strict=True):
        context, question = message_parts(asked.content)
        assert question is None
        assert [one.entity_type for one in unmarked(answer.content, markers=PRIVACYAI).spans] == ["name"]
        assert unmarked(answer.content, markers=PRIVACYAI).context == context


def test_the_same_ones_are_drawn_whatever_the_order_of_texts():
    records = [record(number, (TYPES[number % 6],)) for number in range(30)]
    one, other = shots(records, 4), shots(records, 4)
    other.messages(records[0].context, relevance=True)
    assert one.messages("x", relevance=True) == other.messages("x", relevance=True)
    assert one.messages("x", relevance=True) != shots(records, 4, seed=8).messages("x", relevance=True)


def test_none_is_of_the_own_group():
    records = [record(number, ("name",), group=f"story {number // 2}") for number in range(8)]
    drawn = shots(records, 4)
    for one in records:
        found = contexts(drawn.messages(one.context, relevance=True))
        assert len(found) == 3  # one of each other story
        assert not {other.context for other in records if other.group_keys == one.group_keys} & set(found)
    assert len(contexts(drawn.messages("elsewhere", relevance=True))) == 4
    known = contexts(drawn.messages("elsewhere", relevance=True, group_keys=("story 2",)))
    assert not {records[4].context, records[5].context} & set(known)
    assert len(known) == 3


def test_none_stands_within_the_text_or_has_it_in_other_blanks():
    records = [record(number, ("name",)) for number in range(3)]
    drawn = shots(records, 3)
    text = f"Before. {records[0].context} And then: {records[1].context}"
    assert contexts(drawn.messages(text, relevance=True)) == [records[2].context]
    assert records[2].context not in contexts(drawn.messages(records[2].context.upper().replace(" ", "\n"), relevance=True))


def test_questions_and_relevance_are_shown_where_a_question_is_asked():
    asked, plain = record(1, ("name",)), record(2, ("age",), question=None, relevance=None)
    drawn = shots([asked, plain], 5)
    user, answer = drawn.messages("x", relevance=True)
    assert (message_parts(user.content)[1], answer.content) == ("Can I?", "1: <name high>name1</name>.")
    answers = {one.content for one in drawn.messages("x", relevance=False)}
    assert answers == {"Text:\n1: name1.", "1: <name>name1</name>.", "Text:\n2: age2.", "2: <age>age2</age>."}


def test_what_cannot_be_an_example_is_none():
    unknown = record(1, ("name",)).__class__(
        id="u", context="x1", spans=(Span(id="0", start=0, end=2, entity_type="spell"),), question="Can I?"
    )
    with pytest.raises(DataError, match=r"train\.jsonl: no record has a question, and spans with their relevance"):
        shots([unknown, record(2, ("age",), question=None)], 3).messages("x", relevance=True)
    with pytest.raises(DataError, match="no record has spans of known types"):
        shots([unknown, record(3, ("name",), text="y" * 300)], 3, longest=299).messages("x", relevance=False)
    assert shots([unknown], 0).messages("x", relevance=False) == ()


def test_they_are_read_from_native_rows(tmp_path):
    path = write_jsonl(tmp_path / "train.jsonl", [row(1), row(2, question=None, relevances=(None, None))])
    drawn = Shots.read(path, 3, seed=7, longest=4000, taxonomy=shipped_taxonomy())
    assert len(drawn.messages("x", relevance=False)) == 4
    path.write_text('{"context": "a", "spans": [{"start": 0, "end": 9}]}\n')
    with pytest.raises(DataError, match=r"train\.jsonl:1"):
        Shots.read(path, 3, seed=7, longest=4000, taxonomy=shipped_taxonomy())
