"""Language gate: the context is written in the requested language.

py3langid chooses among ``LANGUAGES`` and the requested one and gives normalized probabilities. A record is refused only if
another language gets at least 0.9, so that names, dialect and slang do not cause a refusal. The texts of spans are removed first
(a name says nothing about the language around it); a rest of fewer than 40 characters passes.

Loading the classifier takes about 0.7 s and 120 MB, a call 0.15 ms per 100 words (measured on two shared cores), so it is
loaded only when a text needs it. If English is requested, a text is accepted without it if it has a contraction, if one word
in eight is hardly used in another language, if three in ten are common English words, or if it is short and has a typical one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from piiloom.corpus.record import Record
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import words
from piiloom.screening.gates import Expectations, GateVerdict

LANGUAGES = tuple("en de fr es pt it nl sv da no fi pl cs ro hu tr id vi ru uk el ar he fa hi bn ta zh ja ko th".split())
MIN_CHARACTERS = 40
MIN_PROBABILITY = 0.9
SELDOM = 500  # if on average more texts than this pass per text that needs the classifier, it is unloaded after use
_ENGLISH_ONLY = frozenset(
    "the and my with that this have of to from which they would their what were been when because there you your i'm i've i'd i'll "
    "it's don't can't won't didn't isn't that's but not are was could should how why who any just get got know think want about "
    "before after never every keep keeps anyone nobody something anything myself around both "
    "doing without these those our it he she his her by "
    "being having someone somebody since until everyone everybody people always other others like each another again "
    "nothing else much might towards there's down working works needs question we've we're "
    "quite who's well very really maybe than then too feel felt today home evening ordinary apparently badly seriously things thing "
    "life little back own first only same right though through against between during across behind above again often usually "
    "sometimes probably actually asleep already almost let's you're they're he's she's theres whod who'd its thats didnt dont cant wont "
    "isnt doesnt wasnt couldnt youre theyre ive ppl holding means two three four five seven eight nine thoughts feelings feeling "
    "picked lost found gave give gives giving makes made taken comes coming goes went gone does did seen see looking looks needed wants "
    "our whatever thought taking somewhere mostly completely different guess guessed because bc cuz smth pls lol tbh nobody's anyone's "
    "into onto upon whose whom yet hear heard imagine ago bought buy spare sell paid pay paying bills rent owe buildings building "
    "break broke sight changed change locks hoping wish wait waiting call called calling moving started starting "
    "wanted asked asks told says said made asking getting trying tried living moved thinking worried new old next month year years".split()
)
_ENGLISH_SHARE = 0.125
# Common English words, some of which occur in other languages too; a share of ``_COMMON_SHARE`` occurs only in English.
_COMMON = _ENGLISH_ONLY | frozenset(
    "a i is in for me so at on no up as be by do go if or us am an im id one all out now here more some them make way good day "
    "hey ok thanks help need say".split()
)
_COMMON_SHARE = 0.3
_FEW_WORDS = 15  # in a shorter text one English-only word is enough, unless it looks like a word of another language (_LOOKALIKES)
_CONTRACTION = re.compile(r"(?i)\b\w+(?:n['’]t|['’](?:ve|re|ll))\b")
_LOOKALIKES = frozenset(
    "just by her his was were been have of not but are it he get want she any well only own first same gave made".split()
)


class LanguageGate:
    """Refuses contexts that are clearly in another language than the requested one."""

    name = "language"
    codes = MappingProxyType({"language.other": "the context is clearly in another language"})

    def __init__(self) -> None:
        self._checked = self._classified = 0

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Classify the context without its spans. Raises ``UsageError`` if the classifier does not know the requested language."""
        self._checked += 1
        text = _without_spans(record)
        if len(text) < MIN_CHARACTERS or (expected.language == "en" and _is_plainly_english(text)):
            return None
        detail = other_language(text, expected.language)
        self._classified += 1
        if self._checked > SELDOM * self._classified:
            _classifier.cache_clear()  # frees 80 MB; it is needed so rarely that loading it again costs less
        return None if detail is None else GateVerdict(code="language.other", detail=detail)


def other_language(text: str, language: str) -> str | None:
    """Say in which other language *text* clearly is; None if it may be in *language*, or has too few characters to tell.

    Raises ``UsageError`` if the classifier does not know *language*.
    """
    if len(text) < MIN_CHARACTERS:
        return None
    found, probability = _classifier(language).classify(text)
    if found == language or probability < MIN_PROBABILITY:
        return None
    return f"{found} with probability {probability:.2f} instead of {language}"


def knows(language: str) -> bool:
    """Whether the classifier knows *language* (ISO 639-1)."""
    return language in LANGUAGES or language in _identifier().labels


def _without_spans(record: Record) -> str:
    pieces: list[str] = []
    position = 0
    for span in record.spans:
        pieces.append(record.context[position : span.start])
        position = span.end
    pieces.append(record.context[position:])
    return "".join(pieces).strip()


def _is_plainly_english(text: str) -> bool:
    if _CONTRACTION.search(text):
        return True
    found = [word.lower().replace("’", "'") for word in words(text)]
    only = sum(word in _ENGLISH_ONLY for word in found)
    if only >= max(3, _ENGLISH_SHARE * len(found)):
        return True
    if len(found) < _FEW_WORDS and any(word in _ENGLISH_ONLY and word not in _LOOKALIKES for word in found):
        return True
    return only > 0 and sum(word in _COMMON for word in found) >= max(3, _COMMON_SHARE * len(found))


def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@lru_cache(maxsize=4)
def _classifier(language: str) -> LanguageIdentifier:
    identifier = _identifier()
    if language not in identifier.labels:
        raise UsageError("the language classifier does not know this language", where=language, remedy="Use an ISO 639-1 code.")
    identifier.set_languages([*LANGUAGES, language])
    return identifier
