"""What all text stages check in a reply: length, voice, values, marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from piiloom.corpus.alignment import BROKEN_MARK, AlignmentTarget, MarkedMention, MarkedText, align, strip_marks
from piiloom.corpus.record import Record
from piiloom.foundation.words import count_words
from piiloom.generation.item import Band, Item, ItemValue
from piiloom.generation.stage import Fault, StageContext
from piiloom.screening.gates import Expectations, RefusalsGate
from piiloom.taxonomy.bank_style import FIRST_PERSON
from piiloom.taxonomy.entity_types import Taxonomy

_REFUSALS = RefusalsGate()
_QUESTION_END = re.compile(r"[?？؟]+")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
# A full stop, question or exclamation mark that ends a sentence: followed by white space and a capital, not after an initial. The marks
# of scripts without capitals end one wherever they stand.
# A full stop after one or two digits may be that of a date ("10. Juli").
SENTENCE_END = re.compile(
    r"(?<![A-Z])(?<!Dr)(?<!St)(?<!Mr)(?<!Ms)(?<!Mrs)(?:(?<!\b\d)(?<!\b\d\d)\.|[!?])[\"'”’)]*\s+(?=[A-Z\"“])|[。！？।][”’」』）]*\s*"
)


def read_marked(reply: str, values: Sequence[ItemValue], *, inflects: bool = False) -> MarkedText:
    """Strip the marks of *reply* and check that it holds each of *values* verbatim (marked, or as whole words).

    Values that are present but not marked are located, so the result has a mention of each value. Raises ``Fault`` for a missing or
    altered value (naming its id), for broken marks, and for a reply that talks about its task. With *inflects*, marked values may have
    other endings.
    """
    marked = strip_marks(reply.strip())
    if BROKEN_MARK.search(marked.text):
        raise Fault("broken_mark", "a mark is not of the form [[id|value]]")
    check_no_meta(marked.text)
    targets = targets_of(values, inflects=inflects)
    alignment = align(marked.text, marked.mentions, targets)
    inflected = {target.value_id for target in targets if target.inflects}
    by_id = {value.id: value for value in values}
    for unresolved in alignment.unresolved:
        value = by_id[unresolved.value_id]
        raise Fault(f"value_{unresolved.reason}", f"the {value.entity_type} value [[{value.id}|{value.text}]] must appear unchanged")
    mentions = tuple(MarkedMention(value_id=s.value_id, start=s.start, end=s.end) for s in alignment.spans)
    for mention in mentions:
        value = by_id[mention.value_id]
        if mention.value_id not in inflected and _plain(marked.text[mention.start : mention.end]) != _plain(value.text):
            raise Fault("value_changed", f"the {value.entity_type} value [[{value.id}|{value.text}]] must appear unchanged")
    return MarkedText(text=marked.text, mentions=mentions)


def read_unmarked(reply: str, band: Band) -> MarkedText:
    """Strip the marks of *reply*, whatever they are, for a later stage to repair; raises ``Fault`` unless it has *band* words."""
    check_length(strip_marks(reply).text, band)
    return strip_marks(reply.strip())


def targets_of(values: Iterable[ItemValue], *, inflects: bool) -> list[AlignmentTarget]:
    """Return what a text is searched for; with *inflects*, marked values may have other endings, except for codes and account names."""
    return [
        AlignmentTarget(value_id=v.id, text=v.text, inflects=inflects and v.entity_type != "code" and v.subtype != "username")
        for v in values
    ]


def _plain(text: str) -> str:
    """Return *text* for comparing spellings of a value: lower case, with plain apostrophes."""
    return text.replace("’", "'").casefold()


def read_sentences(reply: str, values: Sequence[ItemValue], band: Band, most: int, *, inflects: bool = False) -> MarkedText:
    """Read at most *most* sentences that hold all *values* and have *band* words in total; raises ``Fault`` for the first fault."""
    sentences = read_marked(reply, values, inflects=inflects)
    check_length(sentences.text, band)
    check_sentences(sentences.text, most)
    return sentences


def check_no_meta(text: str) -> None:
    """Raise ``Fault`` if *text* mentions its task or being an AI, which the screening gate for refusals would reject later."""
    verdict = _REFUSALS.check(Record(id="reply", context=text), Expectations(pair=("", "")))
    if verdict is not None:
        raise Fault(verdict.code, "it must be the text itself, without a word about the task or about being an AI")


def check_kind(kind: str, ctx: StageContext) -> None:
    """Raise ``Fault`` unless *kind* is an entity type of the run."""
    kinds = ctx.taxonomy.types
    if kind not in kinds:
        raise Fault("unknown_kind", f"{kind} is not among the kinds: {', '.join(kinds)}")


def check_length(text: str, band: Band) -> None:
    """Raise ``Fault`` when *text* has fewer or more words than *band* (inclusive) allows."""
    number = count_words(text)
    if not band[0] <= number <= band[1]:
        raise Fault("wrong_length", f"it has {number} words; {band[0]} to {band[1]} are wanted")


def read_question(reply: object, band: Band) -> str:
    """Return the question *reply* with single spaces; raise ``Fault`` unless it is one question of *band* words, and nothing else."""
    text = " ".join(str(reply).split())
    if not text.endswith(("?", "？", "؟")) or len(_QUESTION_END.findall(_QUOTED.sub("", text))) > 1:
        raise Fault("not_a_question", "it must be one question that ends with a question mark")
    check_length(text, band)
    check_no_meta(text)
    return text


def check_first_person(text: str, language: str) -> None:
    """Raise ``Fault`` when an English *text* never speaks of its writer."""
    if language == "en" and not FIRST_PERSON.search(text):
        raise Fault("not_first_person", "the writer must speak as I")


def check_sentences(text: str, most: int) -> None:
    """Raise ``Fault`` when *text* has more than *most* sentences."""
    number = 1 + sum(1 for _ in SENTENCE_END.finditer(text))
    if number > most:
        raise Fault("too_many_sentences", f"it has {number} sentences; {most} at most {'is' if most == 1 else 'are'} wanted")


def other_texts(item: Item, values: Sequence[ItemValue]) -> list[str]:
    """Return the texts of the item's other values, which a sentence with *values* must not mention by chance."""
    return [value.text for value in item.values if value not in values]


def value_variables(values: Iterable[ItemValue], ctx: StageContext) -> list[dict[str, str]]:
    """Return *values* as template variables. The composer gets types by name, a model also gets the definition of the user's own types."""
    return [
        {
            "id": v.id,
            "text": v.text,
            "type": v.entity_type if ctx.bank is not None else type_label(v.entity_type, ctx.taxonomy),
            "subtype": v.subtype or "",
            "subject": v.subject,
            "relevance": v.relevance,
        }
        for v in values
    ]


def type_label(name: str, taxonomy: Taxonomy) -> str:
    """Return the type as told to a model: a user-defined type with its definition, since its name alone may be unclear."""
    known = taxonomy.types.get(name)
    return f"{name}, that is: {known.definition.rstrip('.')}" if known is not None and known.own else name
