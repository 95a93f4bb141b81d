"""Documents written with their spans in brackets, their checks by code, and what comes of a fix."""

from __future__ import annotations

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark, State, parse_operation
from piiloom.annotation_app.documents.history import apply
from piiloom.annotation_app.documents.live_checks import LiveCheck, live_checks
from piiloom.taxonomy.entity_types import shipped_taxonomy

TYPES = shipped_taxonomy().types


def marked(
    text: str, *labels: tuple[str, str, str | None], question: str | None = "What should I do?", doubt: bool = False
) -> EditedDocument:
    """*text* in which ``[…]`` are spans, with their (type, relevance, subtype) in order."""
    context, marks, start = "", [], 0
    for piece in text.replace("]", "[").split("["):
        if start:
            entity_type, relevance, subtype = labels[len(marks)]
            marks.append(
                SpanMark(
                    id=f"s{len(marks)}",
                    start=len(context),
                    end=len(context) + len(piece),
                    entity_type=entity_type,
                    relevance=relevance,  # type: ignore[arg-type]
                    subtype=subtype,
                    doubt=doubt,
                )
            )
        start = 1 - start
        context += piece
    return EditedDocument(context=context, question=question, marks=tuple(marks))


def checks(document: EditedDocument, locale: str = "en_US") -> dict[str, LiveCheck]:
    return {found.code: found for found in live_checks(document, locale, TYPES)}


def mended(document: EditedDocument, found: LiveCheck) -> EditedDocument:
    assert found.fix is not None
    assert found.fix_label
    return apply(State(document=document), parse_operation(dict(found.fix)), document, types=shipped_taxonomy().types).document


HEALTH, AGE, CODE = ("health", "high", None), ("age", "low", None), ("code", "low", None)
