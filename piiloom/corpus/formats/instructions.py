r"""What a training set tells a language model: the instruction, and the layout of a question and a text in one message.

The layout is unambiguous for any question and any text, so that it can be read back::

    Question: Can I go back to work?
    Text:
    I had my knee operated on …

The text goes on to the end. There is no ``Question:`` line if the record has no question; a question with a line feed, or that begins
with a quotation mark, is written as a JSON string. A message in no such layout is a text without a question.
"""

from __future__ import annotations

import json
from functools import lru_cache

from piiloom.corpus.formats.native_rows import RowFault
from piiloom.corpus.markers import TYPES, MarkerSet, marker_name
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import EntityType, Taxonomy

_QUESTION = "Question: "
_TEXT = "Text:\n"
_TEXT_FIRST = "Text: "


def asks_relevance(record: Record) -> bool:
    """Whether *record* shows what matters to a question: it has one, and no spans or at least one with a relevance."""
    return record.question is not None and (not record.spans or any(span.relevance for span in record.spans))


def extracting(taxonomy: Taxonomy, *, relevance: bool) -> str:
    """Return the instruction to list all mentions as JSON, with their relevance if *relevance*."""
    return _instruction("extract_relevant" if relevance else "extract", taxonomy)


def marking(taxonomy: Taxonomy, *, relevance: bool, markers: MarkerSet = TYPES) -> str:
    """Return the instruction to put *markers* into the text, with the relevance in them if *relevance*, which signs have not."""
    if markers.pairs:
        return _signing(markers)
    return _instruction("mark_relevant" if relevance else "mark", taxonomy)


def verifying(taxonomy: Taxonomy, *, reasoned: bool) -> str:
    """Return the instruction to judge one candidate, with a reasoning before the answer if *reasoned*."""
    return _instruction("verify_reasoned" if reasoned else "verify", taxonomy)


def extracting_values(taxonomy: Taxonomy) -> str:
    """Return the instruction to answer with a JSON object of all values, in the form of the published CAPID models."""
    return _instruction("extract_values", taxonomy)


def values_message(context: str, question: str | None) -> str:
    """Return *context* and *question* in the order of the published CAPID models, the question on the last line."""
    asked = "" if question is None else _on_one_line(question) or '""'
    return f"{_TEXT_FIRST}{context}\n{_QUESTION}{asked}"


def values_message_parts(text: str) -> tuple[str, str | None]:
    """Return context and question of a message, the inverse of ``values_message``. Raises ``RowFault`` for another layout."""
    context, found, question = text.rpartition(f"\n{_QUESTION}")
    if not (found and context.startswith(_TEXT_FIRST)):
        raise RowFault("input: not a line that begins with Text: and a last line that begins with Question:")
    return context.removeprefix(_TEXT_FIRST), _of_one_line(question) if question else None


def message(context: str, question: str | None) -> str:
    """Return *question* and *context* in the layout of the module docstring."""
    asked = "" if question is None else f"{_QUESTION}{_on_one_line(question)}\n"
    return f"{asked}{_TEXT}{context}"


def message_parts(text: str) -> tuple[str, str | None]:
    """Return context and question of a message, the inverse of ``message``; all of it is the context if it has another layout."""
    if text.startswith(_TEXT):
        return text.removeprefix(_TEXT), None
    line, _, rest = text.partition("\n")
    if not (line.startswith(_QUESTION) and rest.startswith(_TEXT)):
        return text, None
    return rest.removeprefix(_TEXT), _of_one_line(line.removeprefix(_QUESTION))


def _on_one_line(question: str) -> str:
    return json.dumps(question, ensure_ascii=False) if "\n" in question or question.startswith('"') else question


def _of_one_line(line: str) -> str:
    if not line.startswith('"'):
        return line
    try:
        found = json.loads(line)
        found.encode("utf-8")  # a lone surrogate, which only an escape can bring in, stays an escape
    except ValueError:
        return line
    return str(found)


@lru_cache(maxsize=2)
def _signing(markers: MarkerSet) -> str:
    return _rendered("mark_signs", [pair._asdict() for pair in markers.pairs])


@lru_cache(maxsize=12)
def _instruction(name: str, taxonomy: Taxonomy) -> str:
    return _rendered(name, [_described(entity_type) for entity_type in taxonomy.types.values()])


def _rendered(name: str, types: list[dict[str, str]]) -> str:
    from piiloom.prompts.library import open_instructions  # noqa: PLC0415 - imports Jinja, which only writing needs

    return open_instructions().find(name).render({"types": types}).system


def _described(entity_type: EntityType) -> dict[str, str]:
    return {"name": entity_type.name, "definition": entity_type.described(), "marker": marker_name(entity_type.name)}
