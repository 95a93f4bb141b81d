"""Pair the documents of the gold with those of the prediction, in the order of the gold.

If the first documents of both sides have ids, documents are paired by them, in whatever order they come: in equal order nothing but one
document is held. Otherwise they are paired by position. Pairs must have the same text and, if both state one, the same question.
Of the prediction, as many documents may have no partner as rows of the gold were left out. An entity table pairs by id, too, and a
document that only one side has is empty on the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from piiloom.corpus.formats.base import quoted
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.inputs.entity_tables import EntityTable
from piiloom.evaluation.inputs.sides import InputsSummary, SideSummary
from piiloom.foundation.errors import DataError

Side = Iterator[AnnotatedDocument] | EntityTable
_SPARE = "documents of rows that the gold leaves out"
_SAME_DOCUMENTS = "Gold and prediction must hold the same documents"


def pairs(gold: Side, found: Side, summary: InputsSummary) -> Iterator[Pair]:
    """Yield the pairs, and fill *summary* (pairing, pairs, absent).

    Raises ``DataError``, naming the first document and both places, if the sides do not match.
    """
    for pair in _paired(gold, found, summary):
        _check_same(pair)
        summary.pairs += 1
        yield _with_one_text(pair, summary)


def _paired(gold: Side, found: Side, summary: InputsSummary) -> Iterator[Pair]:
    if isinstance(found, EntityTable):
        return _with_table(gold, found, summary, flipped=False)
    if isinstance(gold, EntityTable):
        return _with_table(found, gold, summary, flipped=True)
    first_gold, first_found = next(gold), next(found)  # reading raises if there is none
    gold, found = chain([first_gold], gold), chain([first_found], found)
    if first_gold.id is None or first_found.id is None:
        summary.pairing = "position"
        return _by_position(gold, found, summary)
    summary.pairing = "id"
    return _by_ids(_unique(gold), _unique(found), summary)


def _by_position(gold: Iterator[AnnotatedDocument], found: Iterator[AnnotatedDocument], summary: InputsSummary) -> Iterator[Pair]:
    for wanted in gold:
        given = next(found, None)
        while given is not None and None not in (wanted.text, given.text) and wanted.text != given.text and _is_spare(summary):
            given = next(found, None)
        if given is None:
            counts = f"{summary.gold.documents + sum(1 for _ in gold):,} and {summary.found.documents:,}"
            raise _different(f"they hold different numbers of documents: {counts}; the first without a partner is {wanted.where}", summary)
        yield Pair(gold=wanted, found=given)
    given = next((one for one in found if not _is_spare(summary)), None)
    if given is not None:
        counts = f"{summary.gold.documents:,} and {summary.found.documents + sum(1 for _ in found):,}"
        raise _different(f"they hold different numbers of documents: {counts}; the first without a partner is {given.where}", summary)


def _by_ids(
    gold: Iterator[tuple[str, AnnotatedDocument]], found: Iterator[tuple[str, AnnotatedDocument]], summary: InputsSummary
) -> Iterator[Pair]:
    waiting = dict[str, AnnotatedDocument]()
    for name, wanted in gold:
        while name not in waiting:
            other, given = next(found, ("", None))
            if given is None:
                raise _different(f"the document {name!r} ({wanted.where}) is not in the prediction", summary)
            waiting[other] = given
        yield Pair(gold=wanted, found=waiting.pop(name))
    left = next((one for one in chain(waiting.items(), found) if not _is_spare(summary)), None)
    if left is not None:
        raise _different(f"the document {left[0]!r} ({left[1].where}) is not in the gold", summary)


def _is_spare(summary: InputsSummary) -> bool:
    """Return whether one more document of the prediction may have no partner, and count it: as many as rows of the gold were left out."""
    if summary.found.left_out[_SPARE] == summary.gold.rows_left_out:
        return False
    summary.found.left_out[_SPARE] += 1
    return True


def _unique(documents: Iterator[AnnotatedDocument]) -> Iterator[tuple[str, AnnotatedDocument]]:
    """Yield (id, document); raises ``DataError`` if a document has no id, or that of an earlier one."""
    seen: dict[str, str] = {}
    for document in documents:
        if document.id is None:
            raise DataError("the document has no id, but the first one has", where=document.where, remedy="Give all documents ids, or none")
        if document.id in seen:
            remedy = "Give each document an id of its own"
            raise DataError(f"the id {document.id!r} is also that of {seen[document.id]}", where=document.where, remedy=remedy)
        seen[document.id] = document.where
        yield document.id, document


def _with_table(led: Side, table: EntityTable, summary: InputsSummary, *, flipped: bool) -> Iterator[Pair]:
    """Pair *table* with the documents of the other side, in the order of those; *flipped*: the table is the gold."""
    summary.pairing = "id"
    led_summary, table_summary = (summary.found, summary.gold) if flipped else (summary.gold, summary.found)
    left = dict(table.documents)
    first: AnnotatedDocument | None = None
    for name, document in led.documents.items() if isinstance(led, EntityTable) else _unique(_with_ids(led)):
        first = first or document
        other = left.pop(name, None)
        table_summary.absent += other is None
        yield _in_order(document, other or _empty(document, table.file), flipped=flipped)
    if first is not None and left and len(left) == len(table.documents):
        one = next(iter(left.values()))
        raise _different(f"no document has an id of the other side: {first.id!r} ({first.where}), {one.id!r} ({one.where})", summary)
    for document in left.values():
        led_summary.absent += 1
        yield _in_order(_empty(document, led_summary.file), document, flipped=flipped)


def _in_order(one: AnnotatedDocument, other: AnnotatedDocument, *, flipped: bool) -> Pair:
    return Pair(gold=other, found=one) if flipped else Pair(gold=one, found=other)


def _empty(other: AnnotatedDocument, file: str) -> AnnotatedDocument:
    return AnnotatedDocument(
        where=file, id=other.id, text=other.text, question=other.question, locale=other.locale, group_keys=other.group_keys
    )


def _with_ids(documents: Iterator[AnnotatedDocument]) -> Iterator[AnnotatedDocument]:
    first = next(documents)
    if first.id is None:
        remedy = "Give the documents ids: those that the table has in its column of documents"
        raise DataError("the document has no id, so that no table can tell its mentions", where=first.where, remedy=remedy)
    return chain([first], documents)


def _check_same(pair: Pair) -> None:
    """Raise ``DataError`` if the two documents have different texts or questions."""
    gold, found = pair.gold, pair.found
    name = "the document" if gold.id is None or found.id is None else f"the document {gold.id!r}"
    if gold.text is not None and found.text is not None and gold.text != found.text:
        at = next((at for at, (one, other) in enumerate(zip(gold.text, found.text, strict=False)) if one != other), None)
        at = min(len(gold.text), len(found.text)) if at is None else at
        lengths = f"{len(gold.text):,} and {len(found.text):,} characters"
        fault = f"{name} has another text in the gold ({gold.where}): they differ from character {at} on ({lengths})"
        raise DataError(fault, where=found.where, remedy=_SAME_DOCUMENTS)
    if gold.question is not None and found.question is not None and gold.question != found.question:
        raise DataError(f"{name} has another question in the gold ({gold.where})", where=found.where, remedy=_SAME_DOCUMENTS)


def _with_one_text(pair: Pair, summary: InputsSummary) -> Pair:
    """Return *pair* with the text of one side also on that of a table, whose mentions are looked up in it."""
    gold, found = pair.gold, pair.found
    if gold.text is None and found.text is not None:
        return Pair(gold=_in_text(gold, found.text, summary.gold), found=found)
    if found.text is None and gold.text is not None:
        return Pair(gold=gold, found=_in_text(found, gold.text, summary.found))
    return pair


def _in_text(document: AnnotatedDocument, text: str, side: SideSummary) -> AnnotatedDocument:
    """Return *document* with *text*, and its mentions looked up in it."""
    kept: list[AnnotatedMention] = []
    for mention in document.mentions:
        start, end = mention.start, mention.end
        if start is None or end is None:
            kept.append(mention)
            continue
        there = text[start:end] if 0 <= start < end <= len(text) else ""
        if there and mention.text in {there, ""}:  # "": the file states the place only
            kept.append(mention if mention.text else replace(mention, text=there))
        elif _is_kept(mention, document, side):
            kept.append(replace(mention, start=None, end=None))
    return replace(document, text=text, mentions=tuple(kept))


def _is_kept(mention: AnnotatedMention, document: AnnotatedDocument, side: SideSummary) -> bool:
    try:
        return side.keep(f"{quoted(mention.text)} is not at [{mention.start}, {mention.end}) of the text")
    except RowFault as fault:
        raise DataError(str(fault), where=document.where, remedy="Correct the row") from fault


def _different(fault: str, summary: InputsSummary) -> DataError:
    where = f"{summary.gold.file} and {summary.found.file}"
    return DataError(fault, where=where, remedy=_SAME_DOCUMENTS)
