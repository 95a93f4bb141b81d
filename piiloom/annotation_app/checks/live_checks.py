"""All hints on one document, fast enough to be computed after each edit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from piiloom.annotation_app.checks.check import Check
from piiloom.annotation_app.checks.edges import edge_checks
from piiloom.annotation_app.checks.questions import question_checks
from piiloom.annotation_app.checks.shapes import oddity
from piiloom.annotation_app.checks.unmarked import identifier_checks, repeat_checks
from piiloom.annotation_app.documents.document import Document
from piiloom.taxonomy.entity_types import EntityType


def check(document: Document, locale: str, types: Mapping[str, EntityType], *, pair: Collection[str] | None = None) -> list[Check]:
    """Return all hints on *document*: first those on the question, then those on the context in text order.

    *locale* is a code such as ``en_US``. *types* are the taxonomy's types by name. *pair* are the planned types, if the record has a plan
    (see ``question_checks``).
    """
    region = locale.partition("_")[2] or None
    found = [
        *_doubts(document),
        *edge_checks(document),
        *_shape_checks(document, region, types),
        *identifier_checks(document, region, types),
        *repeat_checks(document),
    ]
    found.sort(key=lambda one: one.ranges[0])
    return [*question_checks(document, region, types, pair), *found]


def _doubts(document: Document) -> Iterator[Check]:
    for span in document.marks:
        if span.doubt:
            yield Check(
                code="span.doubt",
                sentence="The text of this span has changed: confirm it, move it or remove it.",
                spans=(span.id,),
                ranges=((span.start, span.end),),
                fix={"op": "confirm", "id": span.id},
                fix_label="confirm it",
            )


def _shape_checks(document: Document, region: str | None, types: Mapping[str, EntityType]) -> Iterator[Check]:
    for span in document.marks:
        odd = oddity(document.context[span.start : span.end].strip(), span.entity_type, span.subtype, region, types)
        if odd is not None:
            yield Check(
                code=odd.code,
                sentence=odd.sentence,
                spans=(span.id,),
                ranges=((span.start, span.end),),
                fix={"op": "type", "id": span.id, "type": odd.better} if odd.better else None,
                fix_label=f"make it {odd.better}" if odd.better else None,
            )
