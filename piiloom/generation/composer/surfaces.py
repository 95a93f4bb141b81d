"""Surface noise: the slips and styles that haste, phones and habits bring into a text.

Text outside marks is changed freely; inside marks only case and apostrophes are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from piiloom.corpus.marks import MARK, mark
from piiloom.corpus.mention_search import is_same_spelling
from piiloom.taxonomy.entity_types import EntityType, Taxonomy
from piiloom.taxonomy.registers import Register
from piiloom.taxonomy.scenarios import Talk

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
