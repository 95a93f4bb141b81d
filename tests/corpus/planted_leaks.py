"""Records without anything in common, and pairs of records with a leak of one kind between them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from piiloom.corpus.record import Provenance, Record, RecordPlan, Span

PAIRS = [("age", "belief"), ("age", "health"), ("finance", "occupation")]


def plain_record(number: int, *, values: dict[str, str] | None = None, question: str | None = "own", context: str | None = None) -> Record:
    """A record whose words, values and question (in the default case) no other one has; *values* are (text, type)."""
    own = {f"code {number:04d}-XY": "code"} if values is None else values
    text = context if context is not None else " ".join(f"w{number}x{n}" for n in range(12)) + " " + " and ".join(own) + "."
    spans = []
    for at, (value, entity_type) in enumerate(own.items()):
        start = text.index(value)
        spans.append(Span(id=f"s{at}", start=start, end=start + len(value), entity_type=entity_type, relevance=("high", "low")[number % 2]))
    return Record(
        id=f"r{number:05d}",
        context=text,
        question=" ".join(f"q{number}x{n}" for n in range(8)) if question == "own" else question,
        spans=tuple(sorted(spans, key=lambda span: span.start)),
        plan=RecordPlan(pair=PAIRS[number % 3]),
        locale=("en_US", "de_DE")[number % 4 == 0],
    )


def copies(one: Record, other: Record) -> Record:
    """The text of *one*, with other punctuation."""
    return replace(other, context=one.context.replace(".", "!"), spans=one.spans)


def changed_values(one: Record, other: Record) -> Record:
    """The text of *one* with its value changed: a near-duplicate."""
    return replace(other, context=one.context.replace("code", "docs"), spans=one.spans)


def rare_value(one: Record, other: Record) -> Record:
    """Another text with the value of *one*."""
    text = other.context + " " + one.spans[0].text_in(one.context)
    return replace(other, context=text, spans=(replace(one.spans[0], start=len(other.context) + 1, end=len(text)),))


def contrast_twin(one: Record, other: Record) -> Record:
    """The same text with another question, and both in a contrast group."""
    return replace(other, context=one.context, spans=one.spans, group_keys=one.group_keys)


def of_one_parent(one: Record, other: Record) -> Record:
    """A paraphrase (in other words) of what *one* is a paraphrase of."""
    return replace(other, provenance=one.provenance)


def near_question(one: Record, other: Record) -> Record:
    """The question of *one* with a word more."""
    return replace(other, question=f"{one.question} now")


def same_key(one: Record, other: Record) -> Record:
    """Another text of the story of *one*."""
    return replace(other, group_keys=one.group_keys)


KINDS: dict[str, Callable[[Record, Record], Record]] = {
    "copy": copies,
    "changed values": changed_values,
    "rare value": rare_value,
    "contrast twin": contrast_twin,
    "parent": of_one_parent,
    "near question": near_question,
    "story": same_key,
    "persona": same_key,
}


def planted(each: int, *, seed: int = 1, plain: int = 200) -> tuple[list[Record], dict[str, list[tuple[str, str]]]]:
    """*plain* records without leaks and *each* pairs of every kind, shuffled; and the ids of the pairs by kind."""
    records = [plain_record(number) for number in range(plain)]
    pairs: dict[str, list[tuple[str, str]]] = {}
    for kind, leak in KINDS.items():
        for _ in range(each):
            number = len(records)
            one = plain_record(number)
            if kind == "parent":
                one = replace(one, provenance=Provenance(stage="paraphrase", parents=(f"gone{number}@0",)))
            if kind in {"contrast twin", "story", "persona"}:
                one = replace(one, group_keys=(f"{'text' if kind == 'contrast twin' else kind}:{number}",))
            records += [one, leak(one, plain_record(number + 1))]
            pairs.setdefault(kind, []).append((records[-2].id, records[-1].id))
    random.Random(seed).shuffle(records)
    return records, pairs
