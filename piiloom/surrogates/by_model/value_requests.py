"""The requests for values that a model shall draw: one for each value of a document, with the sentence around it as its prompt shows it.

In doubt the sentence is cut short: a full stop that may belong to an abbreviation ends it. Line breaks, tabs and a distance of 200
code points on either side always end it. Other mentions in it appear as their tags, or as their kind if the original value is known.

A reply is checked whether it is a value that fits the gap. A fault is told to the model in a message that never quotes the reply.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from piiloom.corpus.record import Record
from piiloom.execution.calls import Fault, prompt_call
from piiloom.foundation.seeding import keyed_seeds, mix, seed_of
from piiloom.foundation.words import WORD, any_of, whole_word
from piiloom.foundation.yaml_files import FileModel, Text, load_yaml
from piiloom.prompts.library import PromptTemplate, open_library
from piiloom.providers.model_calls import ModelCalls
from piiloom.providers.protocol import PromptCall, SamplingSettings
from piiloom.screening.gates import Expectations, RefusalsGate
from piiloom.screening.identifiers import find_identifiers
from piiloom.surrogates.documents import Document, Mention
from piiloom.surrogates.fitting import ANY, VOWEL, genitive_follows, needed_sound, sounds, takes_genitive
from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.known_names import unaccented as plain
from piiloom.surrogates.placeholders.vocabulary import LANGUAGES, vocabulary
from piiloom.surrogates.planned_people import NOBODY
from piiloom.surrogates.planning import PERSON, DocumentPlan
from piiloom.surrogates.settings import EngineSettings

# Kinds whose values are free text. Values that must agree with a person, a country or a checksum (names, contacts, ids, dates, ages,
# places, nationality …) are not among them: code draws those better than any model.
BY_MODEL: Final = frozenset(
    "organisation company employer school language_school university hospital department bank charity band club authority course "
    "degree field occupation resort landmark product condition medication religion political".split()
)
STAGE: Final = "surrogate_value"
TEMPLATE: Final = "surrogate_value"
SCHEMA: Final = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"], "additionalProperties": False}
_SAMPLING: Final = SamplingSettings(max_output_tokens=256)
REACH: Final = 200
_LONGEST_TAG: Final = 80
_LINE_END: Final = re.compile("[\n\r\t\v\f\x1c-\x1e\x85\u2028\u2029]")
# Signs that always end a sentence, and signs that do so only before white space, a capital letter or a mention.
_END: Final = re.compile(r"[。！？｡।॥۔؟]+|[.!?…]+[\"'“”’»)\]*_]*")
_ALWAYS: Final = frozenset("。！？｡।॥۔؟")
_BLANK: Final = re.compile(r"\s")
_LETTERS: Final = 3
# Initial letters, repeated roughly as often as English names and nouns begin with them. Rare letters would lead to odd values.
_FIRST: Final = "AAABBBBCCCCDDDEEFFFGGGHHHIIJKLLLMMMMNNOOPPPPRRRSSSSSTTTUVW"
_VOWELS: Final = "AAAEEIIOO"
LONGEST: Final = 80
_MOST_WORDS: Final = 12
_MOST_DIGITS: Final = 5
_COPIED_WORDS: Final = 4  # this many consecutive words of the sentence count as a copy
_FORBIDDEN: Final = frozenset('[]{}<>|⟦⟧`*_#~^\\="“”„«»')
_SIGNS: Final = re.compile(r"\d+|[^\W\d_]+")
_BEGINNING: Final = re.compile(r"\w|['’][ts][ -]")  # the second as in Dutch: "'t Anker"
_CLOSING: Final = re.compile(r"[.!?:;,…。！？]$")
_GATE: Final = RefusalsGate()
_NOTHING_EXPECTED: Final = Expectations(pair=("name", "name"))


class ModelKind(FileModel):
    """``means`` ends the sentence "The gap holds …"; ``digits``: a value may hold a few."""

    means: Text
    digits: bool = False


class ModelKinds(FileModel):
    """The content of ``data/model_kinds.yaml``: descriptions of the kinds, and words of languages."""

    kinds: dict[str, ModelKind]
    languages: dict[str, Text]
    other_scripts: list[str]
    articles: list[Text]
    closing: list[Text]
    within: list[Text]


@cache
def model_kinds() -> ModelKinds:
    """Return the descriptions of the kinds that a model may be asked for."""
    return load_yaml(files("piiloom.surrogates") / "data" / "model_kinds.yaml", ModelKinds)


@cache
def _never_last() -> re.Pattern[str]:
    """Return the pattern of abbreviations whose full stop never ends a sentence."""
    return re.compile(rf"(?<!\w)(?:{any_of(model_kinds().within)})$", re.IGNORECASE)


class Sentence(NamedTuple):
    """What a model may see: ``before`` + ``gap`` + ``after``, where ``gap`` is the mention's tag."""

    before: str
    gap: str
    after: str


def sentence_of(text: str, mentions: Sequence[Mention], number: int, *, known: bool) -> Sentence:
    """Return the sentence around ``mentions[number]``.

    *known* says that the mentions are original values and not placeholders, so each is shown as its kind, e.g. "[company]".
    """
    mention = mentions[number]
    first = last = number
    start, end = _begin(text, mentions, number), _end(text, mentions, number)
    while first and mentions[first - 1].start >= start:
        first -= 1
    while last + 1 < len(mentions) and mentions[last + 1].start < end:
        last += 1
    return Sentence(
        _shown(text, start, mention.start, mentions[first:number], known=known),
        _tag(text, mention, known=known),
        _shown(text, mention.end, end, mentions[number + 1 : last + 1], known=known),
    )


def _tag(text: str, mention: Mention, *, known: bool) -> str:
    if known or mention.original or mention.end - mention.start > _LONGEST_TAG:
        return f"[{mention.kind}]"
    return text[mention.start : mention.end]


def _shown(text: str, start: int, end: int, mentions: Sequence[Mention], *, known: bool) -> str:
    """Return the text from *start* to *end* with the *mentions* in it replaced by their tags."""
    pieces, at = [], start
    for mention in mentions:
        pieces += [text[at : mention.start], _tag(text, mention, known=known)]
        at = mention.end
    pieces.append(text[at:end])
    return "".join(pieces)


def _begin(text: str, mentions: Sequence[Mention], number: int) -> int:
    """Return the start of the sentence: after the last border before the mention, at most ``REACH`` code points back.

    A mention is never cut: if the limit falls inside one, the sentence begins after it.
    """
    upto = mentions[number].start
    limit = max(0, upto - REACH)
    for before in range(number - 1, -2, -1):
        floor = mentions[before].end if before >= 0 else 0
        low = max(floor, limit)
        border = _last_border(text, low, upto)
        if border is not None:
            return _skip_blanks(text, border, mentions[number].start)
        if floor <= limit:
            return low if low == floor else _next_word(text, low, upto)
        upto = mentions[before].start
        if upto < limit:
            return floor
    return upto


def _end(text: str, mentions: Sequence[Mention], number: int) -> int:
    """Return the end of the sentence: after its final sign or before the line break, at most ``REACH`` code points on."""
    at = mentions[number].end
    limit = min(len(text), at + REACH)
    for after in range(number + 1, len(mentions) + 1):
        ceiling = mentions[after].start if after < len(mentions) else len(text)
        high = min(ceiling, limit)
        border = _first_border(text, at, high, ceiling)
        if border is not None:
            return border
        if ceiling >= limit:
            return high if high == ceiling else _last_word(text, at, high)
        at = mentions[after].end
        if at > limit:
            return ceiling
    return at


def _last_border(text: str, low: int, high: int) -> int | None:
    found = None
    for match in _END.finditer(text, low, high):
        if _ends(text, match, high):
            found = match.end()
    for line in _LINE_END.finditer(text, found or low, high):
        found = line.end()
    return found


def _first_border(text: str, low: int, high: int, ceiling: int) -> int | None:
    line = _LINE_END.search(text, low, high)
    stop = line.start() if line else high
    for match in _END.finditer(text, low, stop):
        if _ends(text, match, min(ceiling, len(text))):
            return match.end()
    return line.start() if line else None


def _ends(text: str, match: re.Match[str], edge: int) -> bool:
    """Whether the matched sign ends a sentence. *edge* is where the next mention begins or the text ends."""
    if match.group()[0] in _ALWAYS:
        return True
    after = match.end()
    if after < edge and not text[after].isspace() and not text[after].isupper():
        return False
    return match.group() != "." or _never_last().search(text, max(0, match.start() - 12), after) is None


def _skip_blanks(text: str, at: int, high: int) -> int:
    return high - len(text[at:high].lstrip()) if at < high else at


def _next_word(text: str, low: int, high: int) -> int:
    """Return the position after the first white space from *low* on, so that no partial word is shown; *low* if there is none."""
    blank = _BLANK.search(text, low, high)
    return _skip_blanks(text, blank.start(), high) if blank else low


def _last_word(text: str, low: int, high: int) -> int:
    blanks = [blank.end() for blank in _BLANK.finditer(text, low, high)]
    return blanks[-1] if blanks else high


class GapRequest(NamedTuple):
    """A request for one value.

    ``numbers`` are the value numbers of the document's plan that share the value. ``sentence``, ``start`` and ``end`` are those of its
    first mention. ``document`` is the document's index in the input, ``id`` its id. ``sound`` is the initial sound that an English
    article before it requires; ``genitive``: an -s follows. ``originals`` are the known original values, which must not be used.
    """

    document: int
    id: str
    numbers: tuple[int, ...]
    kind: str
    start: int
    end: int
    sentence: Sentence
    sound: int
    genitive: bool
    originals: tuple[str, ...]

    @property
    def item_id(self) -> str:
        """The item id in the journal."""
        return f"{self.document}/v{self.numbers[0] + 1}"

    def letters(self, seed: int, language: str) -> list[str]:
        """Return three initial letters to propose to the model; none if the language is not in Latin script.

        The newest models have no temperature setting, so variety must come from the prompt.
        """
        if language in model_kinds().other_scripts:
            return []
        own = seed_of("first letters", seed, self.document, self.numbers[0])
        letters = _VOWELS if self.sound == VOWEL else _FIRST if self.sound == ANY else _FIRST.translate(dict.fromkeys(map(ord, "AEIOU")))
        found: dict[str, None] = {}
        turn = 0
        while len(found) < _LETTERS:
            found.setdefault(letters[mix(own, turn) % len(letters)])
            turn += 1
        return list(found)


def requests_of(document: Document, plan: DocumentPlan, language: str) -> Iterator[GapRequest]:
    """Yield the requests of a planned document, in text order.

    A value that belongs to a person (an occupation, an employer) is one request for all its mentions. If several documents share that
    person, the value is left to code, which draws the same one in each of them.
    """
    values: dict[tuple[object, ...], list[int]] = {}  # the places (indices into the plan's mentions) of each value
    for place, mention in enumerate(plan.mentions):
        if mention.kind not in BY_MODEL:
            continue
        owner = plan.owners[place]
        if owner != NOBODY and KINDS[mention.kind].owner == PERSON:
            if plan.clusters[owner].corpus:
                continue
            key: tuple[object, ...] = (mention.kind, owner, mention.index or mention.original)
        else:
            key = (plan.values[place],)
        values.setdefault(key, []).append(place)
    for places in values.values():
        request = _request(document, plan, places, language)
        if _sendable(request.sentence):
            yield request


def _request(document: Document, plan: DocumentPlan, places: Sequence[int], language: str) -> GapRequest:
    first = plan.mentions[places[0]]
    mentions = [plan.mentions[place] for place in places]
    return GapRequest(
        document=document.number,
        id=document.id,
        numbers=tuple(dict.fromkeys(plan.values[place] for place in places)),
        kind=first.kind,
        start=first.start,
        end=first.end,
        sentence=sentence_of(plan.text, plan.mentions, places[0], known=document.mentions is not None),
        # Mentions with contradictory articles cannot all be satisfied, so the first article counts.
        sound=next((sound for one in mentions if (sound := needed_sound(plan.text, one.start, language)) != ANY), ANY),
        genitive=any(genitive_follows(plan.text, one.end) for one in mentions),
        originals=tuple(dict.fromkeys(one.original for one in mentions if one.original)),
    )


def _sendable(sentence: Sentence) -> bool:
    """Whether the sentence can be encoded as UTF-8; one with a lone surrogate cannot be sent."""
    try:
        "".join(sentence).encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTerms:
    """Everything besides the request that determines a call: template, seed, language, country and number of attempts."""

    template: PromptTemplate
    seed: int
    language: str
    country: str
    attempts: int

    @classmethod
    def of(cls, options: ModelCalls, settings: EngineSettings) -> CallTerms:
        """Build the terms of a run. Raises ``ConfigError`` if the template cannot be used."""
        template = open_library(options.prompts).find(TEMPLATE)
        seed = keyed_seeds(settings.key, "letters")[0]
        return cls(template=template, seed=seed, language=settings.language, country=settings.country, attempts=options.max_attempts)

    def call(self, request: GapRequest, attempt: int, fault: str | None) -> PromptCall:
        """Return the call for one *attempt* (from 0); *fault* says what was wrong with the reply before.

        It contains nothing of the document except the request's sentence.
        """
        kinds = model_kinds()
        kind = kinds.kinds[request.kind]
        variables: dict[str, Any] = {
            "before": request.sentence.before,
            "gap": request.sentence.gap,
            "after": request.sentence.after,
            "means": kind.means,
            "digits": kind.digits,
            "language": kinds.languages.get(self.language, f"the language with the ISO 639-1 code {self.language}"),
            "country": self.country,
            "letters": request.letters(self.seed, self.language),
        }
        return prompt_call(
            self.template,
            variables,
            stage=STAGE,
            schema_name=TEMPLATE,
            schema=SCHEMA,
            item_id=request.item_id,
            attempt=attempt,
            fault=fault,
            settings=_SAMPLING,
        )


@cache
def _ends_abbreviated() -> re.Pattern[str]:
    """Return the pattern of abbreviations with which a value may end."""
    return re.compile(rf"\b(?:(?:[a-z]\.)+|{any_of(model_kinds().closing)})$", re.IGNORECASE)


def folded_value(value: str) -> str:
    """Normalize *value* for comparison: letters and digits only, in lower case and without accents."""
    return " ".join(_SIGNS.findall(plain(value)))


def accepted(reply: Any, request: GapRequest, *, language: str, taken: Collection[str]) -> str:
    """Return the value in *reply* (``{"value": ...}``). Raises ``Fault`` with a message for the model if it cannot be used.

    *taken* holds the folded values that the document already uses for something else.
    """
    value = " ".join(reply["value"].split())
    for wrong, code, message in _possible_faults(reply["value"], value, request, language):
        if wrong:
            raise Fault(code, message)
    if folded_value(value) in taken:
        raise Fault("repeated", "the same text uses this value for something else already; give another one")
    if any(folded_value(value) == folded_value(original) for original in request.originals):
        raise Fault("original", "this value must not be used here; give another one")
    return value


def _possible_faults(reply: str, value: str, request: GapRequest, language: str) -> Iterator[tuple[object, str, str]]:
    """Yield whether *value*, written as *reply*, has a fault, with its code and message, for each fault in the order of their checks."""
    yield not value, "empty", "it is empty"
    yield len(reply.strip().splitlines()) > 1, "lines", "it has more than one line"
    too_long = len(value) > LONGEST or len(value.split()) > _MOST_WORDS
    yield too_long, "too_long", f"it is longer than {LONGEST} characters or {_MOST_WORDS} words"
    # Zero-width joiners belong to the spelling of some languages. All else in these categories is invisible or private use.
    invisible = any(unicodedata.category(c) in {"Cc", "Cf", "Co", "Cs"} and c not in "\u200c\u200d" for c in value)
    yield invisible, "invisible", "it holds invisible characters"
    markup = "it holds brackets, double quotes, underscores or other markup; give the bare words"
    yield _FORBIDDEN & set(value), "signs", markup
    bare = not any(map(str.isalpha, value)) or _BEGINNING.match(value) is None
    yield bare, "signs", "it must begin with a letter or a digit and hold letters"
    yield value[-1] in "'’" and value[0] in "'’", "signs", "it stands in quotes; give the bare words"
    yield _CLOSING.search(value) and _ends_abbreviated().search(value) is None, "closed", "it ends with a punctuation mark"
    verdict = _GATE.check(Record(id="reply", context=value), _NOTHING_EXPECTED)
    yield verdict is not None, "no_value", "it speaks of the task instead of giving the value"
    contact = "@" in value or "://" in value or next(find_identifiers(value, None), None) is not None
    yield contact, "contact", "it holds an address, a number or a link of somebody"
    digits = sum(map(str.isdigit, value))
    yield digits and not model_kinds().kinds[request.kind].digits, "digits", "it holds digits, which this kind has not"
    yield digits > _MOST_DIGITS, "digits", "it holds too many digits"
    yield _is_tag(value, request, language), "tag_word", "it only names the kind of thing; give one such thing"
    sentence = request.sentence
    before, after = WORD.findall(plain(sentence.before)), WORD.findall(plain(sentence.after))
    words, articles = WORD.findall(plain(value)), model_kinds().articles
    touching = sentence.before[-1:] in {" ", "\u00a0"} and before
    twice = touching and before[-1] in articles and words[0] in articles
    yield twice, "article", "it begins with an article, and one stands before the gap already"
    sound = "a vowel sound" if request.sound == VOWEL else "a consonant sound"
    yield not sounds(value, request.sound), "article", f"the article before the gap asks for a word that begins with {sound}"
    genitive = request.genitive and not takes_genitive(value)
    yield genitive, "genitive", "an -s follows the gap, so it must not end in s, x or z"
    doubled = (before and words[0] == before[-1]) or (after and words[-1] == after[0])
    yield doubled, "doubled", "it repeats the word right beside the gap"
    own = _runs(value)
    for part in (sentence.before, sentence.after):
        yield whole_word(value.casefold()).search(part.casefold()), "copied", "it stands in the sentence already"
        yield own & _runs(part), "copied", "it copies words of the sentence"


def _is_tag(value: str, request: GapRequest, language: str) -> bool:
    """Whether *value* is the tag of the gap, or a word of tags. Roles ("nurse") are allowed: they are valid values of another kind."""
    words = folded_value(value).split()
    name = " ".join(words[1:] if len(words) > 1 and words[0] in model_kinds().articles else words)
    known = vocabulary((language, "en") if language in LANGUAGES and language != "en" else ("en",)).get(name)
    return name in {folded_value(request.sentence.gap), request.kind} or (known is not None and known.what in {"value", "name", "blank"})


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return all runs of so many words that they count as copied."""
    words = WORD.findall(text.casefold())
    return {tuple(words[at : at + _COPIED_WORDS]) for at in range(len(words) - _COPIED_WORDS + 1)}
