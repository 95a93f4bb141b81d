"""Surface noise: the slips and styles that haste, phones and habits bring into a text.

Text outside marks is changed freely; inside marks only case and apostrophes are.

A habit belongs to the author of a story from the bank. It is orthographic and applies to a whole text, for example all lower case, no
apostrophes, or words always misspelled; "untidy" is several of them at once. It changes the text between values. Only lower case changes
values too (except codes, which people copy); the span's value is then the changed text. If a habit would make the spans invalid, the text
stays as it is.

Labels of identifiers ("Phone:", "acct") vary from writer to writer too, besides any habit.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from piiloom.corpus.alignment import MARK, mark
from piiloom.corpus.mention_search import is_same_spelling
from piiloom.foundation.words import any_of
from piiloom.generation.composer.scenario_texts import capitalised
from piiloom.generation.composer.story_writing import ToldSpan, ToldStory, clash, folded
from piiloom.taxonomy.entity_types import EntityType, Taxonomy
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.scenarios import Talk
from piiloom.taxonomy.text_shapes import FieldLabels, Habit, Register, habit_shares, labels, misspelled

_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCE_END = re.compile(r"(?<=[^\W\d_][.!?])(?=\s|$)")
_POINTS = re.compile(r"[.,;:!?\"()—–]")
_GAP = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
_BLANKS = re.compile(r"\s+")
_UNNUMBERED = re.compile(r"(?<!\S)[^\s\d]+(?!\S)")
_QUOTED = re.compile(r'"([^"\n]*)"')
_INNER_APOSTROPHE = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
# A comma right after or right before a value, which may become a dash.
_COMMA_AT_MARK = re.compile(r"(?<=\]\]), (?=[^\W\d_])|(?<=[^\W\d_]), (?=\[\[)")
_DASHED = 0.3
_DASHES = (" – ", "—", " — ")
_KEPT_CASE = "code"  # type whose case is kept: identifiers are copied, not typed
# A register's hesitation rate divided by this is the chance of a hesitation in each gap between words.
_GAPS_PER_HESITATION = 10


def wear(marked: str, register: Register, talk: Talk, kinds: Mapping[str, str], taxonomy: Taxonomy, rng: random.Random) -> str:
    """Apply the surface noise of *register* to *marked*; *kinds* is the entity type of each marked value by id."""
    text = marked
    if register.abbreviations and talk.shorthand:
        shorthand = {word.lower(): forms for word, forms in talk.shorthand.items()}
        text = _outside(text, lambda plain: _shortened(plain, shorthand, register.abbreviations, rng))
    if register.typos:
        text = _outside(text, lambda plain: _WORD.sub(lambda m: _slip(m.group(), register.typos, rng), plain))
    if register.emoji and talk.emoji:
        text = _outside(text, lambda plain: _ended(plain, talk.emoji, register.emoji, rng))
    if rng.random() < register.typographic:
        text = _typeset(text, rng)
    unpointed = rng.random() < register.unpointed
    if register.hesitations and talk.hesitations:
        pause = "{}" if unpointed else "{},"
        chance = register.hesitations / _GAPS_PER_HESITATION
        text = _outside(text, lambda plain: _hesitant(plain, talk.hesitations, pause, chance, rng))
    if unpointed:
        text = _BLANKS.sub(" ", _outside(text, lambda plain: _POINTS.sub("", plain))).strip()
    return _lowered(text, kinds, taxonomy) if rng.random() < register.lower else text


def _outside(marked: str, change: Callable[[str], str]) -> str:
    """Apply *change* to the text outside marks."""
    pieces: list[str] = []
    position = 0
    for found in MARK.finditer(marked):
        pieces += [change(marked[position : found.start()]), found.group()]
        position = found.end()
    pieces.append(change(marked[position:]))
    return "".join(pieces)


def _typeset(marked: str, rng: random.Random) -> str:
    """Use typographic quotes and dashes, as word processors and phones do; inside values change apostrophes only."""
    dash = rng.choice(_DASHES)
    plain = _outside(marked, lambda text: _QUOTED.sub(r"“\1”", text.replace(" - ", dash).replace("'", "’").replace("...", "…")))
    dashed = _COMMA_AT_MARK.sub(lambda found: dash if rng.random() < _DASHED else found.group(), plain)
    return MARK.sub(lambda found: mark(found.group(1), _INNER_APOSTROPHE.sub("’", found.group(2))), dashed)


def _lowered(marked: str, kinds: Mapping[str, str], taxonomy: Taxonomy) -> str:
    types = taxonomy.types
    kept = {_KEPT_CASE, *(kind for kind in kinds.values() if kind in types and types[kind].own and _is_code(types[kind]))}

    def lower(found: re.Match[str]) -> str:
        value_id, surface = found.groups()
        return found.group() if kinds.get(value_id) in kept else mark(value_id, _lower_value(surface))

    return MARK.sub(lower, _outside(marked, str.lower))


def _is_code(kind: EntityType) -> bool:
    return any(subtype.form == _KEPT_CASE for subtype in kind.subtypes)


def _lower_value(surface: str) -> str:
    """Return *surface* in lower case, except words with a digit ("28F") and names that would become function words ("Will")."""
    lowered = _UNNUMBERED.sub(lambda found: found.group().lower(), surface)
    return lowered if is_same_spelling(lowered, surface) else surface


def _slip(word: str, chance: float, rng: random.Random) -> str:
    """With probability *chance*, mistype *word*: swap, drop or double a letter."""
    if rng.random() >= chance:
        return word
    place = rng.randint(1, len(word) - 2)
    kind = rng.random()
    if kind < 0.4:
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    if kind < 0.75:
        return word[:place] + word[place + 1 :]
    return word[:place] + word[place] + word[place:]


@lru_cache(maxsize=16)
def _long_forms(words: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


def _shortened(plain: str, shorthand: Mapping[str, Sequence[str]], chance: float, rng: random.Random) -> str:
    def shorten(found: re.Match[str]) -> str:
        if rng.random() >= chance:
            return found.group()
        short = rng.choice(shorthand[found.group().lower()])
        return short.capitalize() if found.group()[:1].isupper() and short[:1].isalpha() else short

    return _long_forms(tuple(shorthand)).sub(shorten, plain)


def _ended(plain: str, emoji: Sequence[str], chance: float, rng: random.Random) -> str:
    return _SENTENCE_END.sub(lambda _: f" {rng.choice(emoji)}" if rng.random() < chance else "", plain)


def _hesitant(plain: str, hesitations: Sequence[str], pause: str, chance: float, rng: random.Random) -> str:
    return _GAP.sub(lambda _: f" {pause.format(rng.choice(hesitations))} " if rng.random() < chance else " ", plain)


Change = Callable[[str], str]

_APOSTROPHE: Final = re.compile(r"(?<=[A-Za-z])['’](?=(?:t|m|s|d|re|ve)(?!\w))")  # not of "he'll", which would be another word
# Before a stop that ends no sentence: "Dr", "p.m", "J".
_SHORT: Final = "".join(
    rf"(?<!\b{word})" for word in "[A-Za-z] Dr Mr Ms Mrs St No no Nos nos Jr Sr vs etc Inc Co Ave approx ext Ext tel Tel Re incl ca".split()
)
_STOP: Final = re.compile(rf"(?<!\.){_SHORT}\.(?= )")
_AFTER_SENTENCE: Final = re.compile(rf"((?:[!?]|{_SHORT}\.)[\"')]?) (?=\S)")
_LAST_STOP: Final = re.compile(rf"{_SHORT}\.$")
_COPIED: Final = frozenset({"code"})  # types whose values people do not type
_FIELD: Final = re.compile(
    r"(?m)^(?!(?:From|To|Cc|Date|Sent|Subject|Re|Fwd?):)"
    r"(?P<label>(?P<name>[A-Za-z][\w ./'#-]{0,26}?(?: \([\w ./'#-]{1,16}\))?)(?P<numbered> no\.| number)?): (?=\S|\Z)"
)  # of a form, not of the head of a mail
_NOT_IN_KEYS: Final = re.compile(r"[.#'()]")


def _with_fields(change: Callable[[re.Match[str]], str]) -> Change:
    """Return a change of all fields ("label: entry"); *change* returns the text before an entry."""
    return lambda text: _FIELD.sub(change, text)


_CHANGES: Final[Mapping[Habit, Change]] = {
    "lower_case": folded,
    "no_apostrophes": lambda text: _APOSTROPHE.sub("", text),
    "dots": lambda text: _STOP.sub("...", text),
    "double_spaces": lambda text: _AFTER_SENTENCE.sub(r"\1  ", text),
    "no_final_stop": lambda text: text,  # done on the whole text in ``with_habit``
    "fields_capital": _with_fields(lambda field: field.group().upper()),
    "fields_dotted": _with_fields(lambda field: f"{field['label']} {'.' * max(3, 24 - len(field['label']))} "),
    "fields_dashed": _with_fields(lambda field: f"{field['label']} - "),
    "fields_bare": _with_fields(lambda field: f"{field['label']} "),
    "fields_below": _with_fields(lambda field: f"{field['label']}\n"),
    "fields_hash": _with_fields(lambda field: f"{field['name']} #: " if field["numbered"] else field.group()),
    "fields_equal": _with_fields(lambda field: f"{'_'.join(_NOT_IN_KEYS.sub('', field['label'].casefold()).split())}="),
}
_IN_LOWER_CASE: Final = frozenset({"lower_case", "untidy"})
_WITHOUT_FINAL_STOP: Final = frozenset({"no_final_stop", "untidy"})
_MISSPELLED_WORDS: Final = 3  # of one text at most
_OF_FIELDS: Final = "fields"  # begins the habits that change no question


def with_habit(told: ToldStory, voice: str, rng: random.Random, locale: str, taxonomy: Taxonomy) -> ToldStory:
    """Return *told* with other labels and with a habit drawn for *voice*, as far as they fit."""
    told = _relabelled(told, rng, get_locale(locale).language)
    habit = _draw(voice, rng)
    if habit is None:
        return told
    change = _change(habit, told, rng, get_locale(locale).language)
    if change is None:
        return told
    text, spans = _changed(told, lambda between, _: change(between), taxonomy if habit in _IN_LOWER_CASE else None)
    if habit in _WITHOUT_FINAL_STOP and _LAST_STOP.search(text) and (not spans or spans[-1].end < len(text)):
        text = text[:-1]
    if text == told.text or clash(text, spans, {span.fact: span.value for span in spans}) is not None:
        return told
    if not habit.startswith(_OF_FIELDS):
        questions = tuple(replace(question, text=change(question.text)) for question in told.questions)
        told = replace(told, questions=questions)
    return replace(told, text=text, spans=spans, habit=habit)


def _draw(voice: str, rng: random.Random) -> Habit | None:
    at = rng.random() * 100
    for habit, share in habit_shares(voice).items():
        at -= share
        if at < 0:
            return habit
    return None


def _change(habit: Habit, told: ToldStory, rng: random.Random, language: str) -> Change | None:
    """Return the change that *habit* makes to text between values; None if it has nothing to change in this text."""
    if habit in _CHANGES:
        return _CHANGES[habit]
    there = [word for word in misspelled(language) if word in told.text]
    misspell = _misspelling(rng.sample(there, min(len(there), rng.randint(1, _MISSPELLED_WORDS))), language)
    if habit == "untidy":
        return lambda text: folded(_CHANGES["no_apostrophes"](misspell(text)))
    return misspell if there else None


def _misspelling(words: Sequence[str], language: str) -> Change:
    """Return a change that misspells *words* and keeps their capitals."""
    if not words:
        return str
    any_of = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w'’])(?:{any_of})(?![\w'’])", re.IGNORECASE)

    def put(found: re.Match[str]) -> str:
        written = misspelled(language)[found.group().lower()]
        return written[0].upper() + written[1:] if found.group()[0].isupper() else written

    return lambda text: pattern.sub(put, text)


_LABEL_CHANGED: Final = 0.6  # share of the known labels that are replaced by one of their group, by chance by themselves
_AT_LINE: Final = r"(?:\A|\n)(?:[-*>•] ?)?"
_NUMBERED: Final = re.compile(r"(?i)(?:no\.|#|number|\bID)\Z")


def _relabelled(told: ToldStory, rng: random.Random, language: str) -> ToldStory:
    """Replace some labels that stand right before identifiers by synonyms, the same label of a text alike."""
    known = labels(language)
    chosen: dict[tuple[FieldLabels, str], str] = {}

    def change(between: str, span: ToldSpan | None) -> str:
        for of in known.get(span.subtype, ()) if span else ():
            if found := _label_pattern(of).search(between):
                spelled = {one.casefold(): one for one in (of.field if found["field"] else of.inline)}
                old = (found["field"] or found["inline"]).casefold()
                new = chosen.setdefault((of, old), rng.choice([*spelled]) if rng.random() < _LABEL_CHANGED else old)
                return _with_label(found, spelled[old], spelled[new]) if new != old and new in spelled else between
        return between

    text, spans = _changed(told, change, None)
    if text == told.text or clash(text, spans, {span.fact: span.value for span in spans}) is not None:
        return told
    return replace(told, text=text, spans=spans)


@lru_cache(maxsize=256)
def _label_pattern(of: FieldLabels) -> re.Pattern[str]:
    """Return a pattern of a label at the end of a text: of a field, or within a line where a label can stand.

    The group "first" is there for the first word of a line or sentence, "owned" for "my chart no.", but also for "my customer".
    """
    field, inline = (any_of(sorted(one, key=len, reverse=True)) or "(?!)" for one in (of.field, of.inline))
    before = rf"(?P<first>{_AT_LINE}|[.!?][\"')]? )|[(\[]|[,;|:] |(?P<owned>\b(?:my|your|his|her|their|our|the) )"
    return re.compile(rf"(?i)(?:{_AT_LINE}(?P<field>{field})(?=: ?\Z)|(?:{before})(?P<inline>{inline})(?=:? ?\Z))")


def _with_label(found: re.Match[str], listed: str, other: str) -> str:
    """Return the text with the label *found* replaced by *other*, if it fits; *listed* is the found one as the list spells it."""
    text = found.string
    start, end = found.span("field" if found["field"] else "inline")
    said = re.findall(r"\w+", text[:start].casefold())[-4:]  # "SSN, last four" does not become "SSN, SSN last 4"
    is_number = _NUMBERED.search(listed) and _NUMBERED.search(other)
    if not set(said).isdisjoint(re.findall(r"\w+", other.casefold())) or (found["owned"] and not is_number):
        return text
    gap = " " if end == len(text) and not other.endswith("#") else ""
    return f"{text[:start]}{_in_case_of(text[start:end], listed, other, first=found['first'] is not None)}{gap}{text[end:]}"


def _in_case_of(label: str, listed: str, other: str, *, first: bool) -> str:
    """Return *other* in small letters or capitals where *label* is so unlike *listed*; a capital of the *first* word stays."""
    if label.islower() and label != listed:
        return other.lower()
    if label.isupper() and not listed.isupper():
        return other.upper()
    return capitalised(other) if label[0].isupper() and (first or listed[0].islower()) else other


def _changed(
    told: ToldStory, change: Callable[[str, ToldSpan | None], str], in_lower_case: Taxonomy | None
) -> tuple[str, tuple[ToldSpan, ...]]:
    """Apply *change* to each text before a span, and to the rest; returns the new text and the spans with their new offsets.

    With the taxonomy *in_lower_case*, values that people do not copy are set in lower case.
    """
    pieces: list[str] = []
    spans: list[ToldSpan] = []
    length = at = 0
    for span in told.spans:
        between = change(told.text[at : span.start], span)
        value = span.value if in_lower_case is None or _is_copied(span, in_lower_case) else folded(span.value)
        start = length + len(between)
        length = start + len(value)
        pieces += (between, value)
        spans.append(replace(span, start=start, end=length, value=value))
        at = span.end
    pieces.append(change(told.text[at:], None))
    return "".join(pieces), tuple(spans)


def _is_copied(span: ToldSpan, taxonomy: Taxonomy) -> bool:
    """Return whether people copy the value of *span* from somewhere, so that it keeps its case."""
    kind = taxonomy.types.get(span.entity_type)
    own = kind is not None and kind.own and any(one.name == span.subtype and one.form == "code" for one in kind.subtypes)
    return own or span.entity_type in _COPIED
