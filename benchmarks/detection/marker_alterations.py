"""Marked answers as models spoil them: by kind of alteration, and several at once.

An answer is a list of pieces, text and markers, so that each alteration hits what it is meant to.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from piiloom.corpus.markers import marked_text, marker_name
from piiloom.corpus.record import Relevance, Span
from piiloom.detection.marking.answer_reading import sites_in
from piiloom.taxonomy.entity_types import shipped_taxonomy

TYPES: Final = ("name", "age", "health", "location", "occupation", "sexual orientation", "finance", "datetime")
_WORDS: Final = (
    "and the of I my is was at home work never again Anna Smith anna Kraków naïve 34 34.5 2019 (maybe) “so” don't O'Brien x² ΑΒΓ Łódź "
    "doctor asthma nurse teacher Main Street 12a 555-0199 a@b.example 🐢 नमस्ते मुंबई شارع".split()
)
_UNSPACED: Final = tuple("我叫王伟住在北京今年三十四岁是医生東京です")
_LIKE_MARKERS: Final = (
    "<name>",
    "</name>",
    "<b>",
    "</b>",
    r"\<age>",
    "a < b",
    "c > d",
    "C:\\",
    "<health high>",
    r"\\<name>",
    "<br/>",
    "<3",
)

Range3 = tuple[int, int, str]


@dataclass(slots=True)
class Piece:
    """A text, or a marker of mark *number* if that is not None. ``closes``: it is the closing one."""

    text: str
    number: int | None = None
    closes: bool = False


@dataclass(slots=True)
class Spoilt:
    """An answer to *text*, which is being spoilt; ``spans`` are what was marked at first."""

    text: str
    spans: list[Range3]
    pieces: list[Piece]

    @property
    def reply(self) -> str:
        """The answer as it is sent."""
        return "".join(piece.text for piece in self.pieces)

    def markers(self, *, closes: bool | None = None) -> list[int]:
        """The numbers of the pieces that are markers."""
        return [n for n, one in enumerate(self.pieces) if one.number is not None and closes in {None, one.closes}]

    def numbers(self) -> set[int]:
        """The numbers of those marks of which at least one marker is left."""
        return {piece.number for piece in self.pieces if piece.number is not None}

    def merged(self) -> set[Range3]:
        """Ranges from a mark's beginning to the end of a later one of its type: nothing shows that the markers between them are lost."""
        return {(a, d, one) for a, _, one in self.spans for c, d, other in self.spans if one == other and a < c}


def a_text(rng: random.Random, *, like_markers: float = 0.15) -> tuple[str, list[Span]]:
    """A text whose words repeat, and some spans of it."""
    pieces: list[str] = []
    ranges: list[tuple[int, int]] = []
    length = 0

    def add(piece: str) -> None:
        nonlocal length
        pieces.append(piece)
        length += len(piece)

    for _ in range(rng.randint(1, 6)):
        unspaced = rng.random() < 0.12
        for _ in range(rng.randint(2, 9)):
            begin = length
            looks_so = rng.random() < like_markers
            add(f"{rng.choice(_LIKE_MARKERS)} " if looks_so else rng.choice(_UNSPACED if unspaced else _WORDS))
            if rng.random() < 0.3:
                for _ in range(rng.randint(looks_so, 2)):
                    add(("" if unspaced else " ") + rng.choice(_UNSPACED if unspaced else _WORDS))
                ranges.append((begin, length))
            add("" if unspaced else rng.choice((" ", " ", " ", ", ")))
        add(rng.choice(("。",) if unspaced else (". ", ".\n", "! ", "?\n\n")))
    text = "".join(pieces)
    kept = text.rstrip()
    spans = []
    for number, (start, end) in enumerate(one for one in ranges if one[1] <= len(kept)):
        relevance: Relevance | None = rng.choice(("high", "low", None))
        spans.append(Span(id=f"s{number}", start=start, end=end, entity_type=rng.choice(TYPES), relevance=relevance))
    return kept, spans


def answered(text: str, spans: Sequence[Span]) -> Spoilt:
    """The right answer for *text* with *spans*."""
    reply = marked_text(text, spans)
    pieces: list[Piece] = []
    done = number = 0
    for site in sites_in(reply, taxonomy=shipped_taxonomy()):
        if site.slashes % 2 or site.surface not in {f"<{_opening(span)}>" for span in spans} | {f"</{_closing(span)}>" for span in spans}:
            continue
        pieces += (Piece(reply[done : site.start]), Piece(site.surface, number // 2, site.marker.closes))
        number += 1
        done = site.end
    pieces.append(Piece(reply[done:]))
    assert number == 2 * len(spans), "the right answer has other markers than were written"
    return Spoilt(text, [(span.start, span.end, span.entity_type) for span in spans], pieces)


def _opening(span: Span) -> str:
    return marker_name(span.entity_type) + (f" {span.relevance}" if span.relevance else "")


def _closing(span: Span) -> str:
    return marker_name(span.entity_type)


Spoil = Callable[[random.Random, Spoilt], bool]  # whether there was something to spoil


def _one_marker(closes: bool | None, change: Callable[[random.Random, Spoilt, int], None]) -> Spoil:
    def spoil(rng: random.Random, one: Spoilt) -> bool:
        there = one.markers(closes=closes)
        if there:
            change(rng, one, rng.choice(there))
        return bool(there)

    return spoil


def _dropped(_: random.Random, one: Spoilt, at: int) -> None:
    del one.pieces[at]


def _doubled(_: random.Random, one: Spoilt, at: int) -> None:
    piece = one.pieces[at]
    one.pieces.insert(at, Piece(piece.text, piece.number, piece.closes))


def _spelled(change: Callable[[random.Random, str], str]) -> Callable[[random.Random, Spoilt, int], None]:
    def spoil(rng: random.Random, one: Spoilt, at: int) -> None:
        marker = one.pieces[at].text.lstrip("\\")
        one.pieces[at].text = one.pieces[at].text.removesuffix(marker) + change(rng, marker)

    return spoil


def _swapped(rng: random.Random, marker: str) -> str:
    places = [n for n in range(1, len(marker) - 2) if marker[n].isalpha() and marker[n + 1].isalpha()]
    at = rng.choice(places)
    return marker[:at] + marker[at + 1] + marker[at] + marker[at + 2 :]


def _other_type(rng: random.Random, marker: str) -> str:
    closes = "/" if marker.startswith("</") else ""
    return f"<{closes}{marker_name(rng.choice([one for one in TYPES if marker_name(one) not in marker]))}>"


def _unknown_type(_: random.Random, marker: str) -> str:
    return "</zzqx>" if marker.startswith("</") else "<zzqx>"


def _blanks_within(rng: random.Random, marker: str) -> str:
    return rng.choice((f"< {marker[1:]}", f"{marker[:-1]} >", f"< {marker[1:-1]} >"))


def _attribute(_: random.Random, marker: str) -> str:
    return marker.replace(" high>", ' relevance="high">').replace(" low>", ' relevance="low">')


def _broken(_: random.Random, marker: str) -> str:
    return marker[:-1]


def _pair_doubled(rng: random.Random, one: Spoilt) -> bool:
    there = one.markers(closes=False)
    if there:
        number = one.pieces[rng.choice(there)].number
        one.pieces = [twice for piece in one.pieces for twice in ([piece, piece] if piece.number == number else [piece])]
    return bool(there)


def _nested(rng: random.Random, one: Spoilt) -> bool:
    """Another pair around a whole mark and the text before it."""
    there = [at for at in one.markers(closes=False) if at > 0]
    if not there:
        return False
    at = rng.choice(there)
    end = next((n for n in range(at, len(one.pieces)) if one.pieces[n].closes and one.pieces[n].number == one.pieces[at].number), None)
    if end is None:
        return False
    name = marker_name(rng.choice(TYPES))
    one.pieces[end + 1 : end + 1] = [Piece(f"</{name}>", -1, closes=True)]
    one.pieces[at - 1 : at - 1] = [Piece(f"<{name}>", -1)]
    return True


def _crossing(rng: random.Random, one: Spoilt) -> bool:
    """A closing marker moves behind the next opening one and its value."""
    there = [n for n in one.markers(closes=True) if n + 2 < len(one.pieces)]
    if not there:
        return False
    at = rng.choice(there)
    piece = one.pieces.pop(at)
    one.pieces.insert(min(at + 3, len(one.pieces)), piece)
    return True


def _escapes_dropped(_: random.Random, one: Spoilt) -> bool:
    changed = False
    for piece in one.pieces:
        if piece.number is None and "\\" in piece.text:
            piece.text = piece.text.replace("\\<", "<")
            changed = True
    return changed


def _markers_escaped(_: random.Random, one: Spoilt) -> bool:
    for at in one.markers():
        one.pieces[at].text = "\\" + one.pieces[at].text
    return bool(one.markers())


def _blank_moved_in(rng: random.Random, one: Spoilt) -> bool:
    there = [at for at in one.markers(closes=False) if at and one.pieces[at - 1].text.endswith(" ")]
    if not there:
        return False
    at = rng.choice(there)
    one.pieces[at - 1].text = one.pieces[at - 1].text[:-1]
    one.pieces[at + 1].text = " " + one.pieces[at + 1].text
    return True


def _blanks_around(rng: random.Random, one: Spoilt) -> bool:
    there = one.markers()
    if there:
        at = rng.choice(there)
        if one.pieces[at].closes:
            one.pieces[at - 1].text += " "
        else:
            one.pieces[at + 1].text = " " + one.pieces[at + 1].text
    return bool(there)


def _fenced(rng: random.Random, one: Spoilt) -> bool:
    one.pieces.insert(0, Piece(rng.choice(("```\n", "```xml\n", "Here is the marked text:\n\n```text\n"))))
    one.pieces.append(Piece("\n```"))
    return True


def _preamble(rng: random.Random, one: Spoilt) -> bool:
    one.pieces.insert(0, Piece(rng.choice(("Here is the marked text:\n\n", "Text:\n", "Sure! "))))
    return True


def _cut_off(rng: random.Random, one: Spoilt) -> bool:
    reply = one.reply
    left = rng.randint(len(reply) // 2, max(len(reply) - 1, len(reply) // 2))
    for at, piece in enumerate(one.pieces):
        if left < len(piece.text):
            one.pieces[at:] = [Piece(piece.text[:left])]
            return True
        left -= len(piece.text)
    return False


def _texts(one: Spoilt, *, values: bool) -> list[int]:
    """The numbers of the pieces of text within marks, or outside of them."""
    found: list[int] = []
    inside = False
    for at, piece in enumerate(one.pieces):
        if piece.number is not None:
            inside = not piece.closes
        elif inside == values and piece.text.strip():
            found.append(at)
    return found


def _in_text(change: Callable[[random.Random, str], str], *, values: bool) -> Spoil:
    def spoil(rng: random.Random, one: Spoilt) -> bool:
        there = _texts(one, values=values)
        if not there:
            return False
        piece = one.pieces[rng.choice(there)]
        piece.text = change(rng, piece.text)
        return True

    return spoil


def _by_word(change: Callable[[random.Random, str], str]) -> Callable[[random.Random, str], str]:
    def spoil(rng: random.Random, text: str) -> str:
        words = text.split(" ")
        there = [n for n, word in enumerate(words) if word.strip()]
        if there:
            at = rng.choice(there)
            words[at] = change(rng, words[at])
        return " ".join(words)

    return spoil


def _letter(rng: random.Random, word: str) -> str:
    at = rng.randrange(len(word))
    return word[:at] + rng.choice("aeionrst5") + word[at + 1 :]


_other_word = _by_word(lambda rng, _: rng.choice(_WORDS))
_typography = str.maketrans({"“": '"', "”": '"', "'": "’", "-": "–"})


def _sentence(change: str) -> Spoil:
    """A sentence with its marks is left out, or comes twice; the marks are known by their numbers."""

    def spoil(rng: random.Random, one: Spoilt) -> bool:
        cuts = [at for at in _texts(one, values=False) if ". " in one.pieces[at].text]
        if len(cuts) < 2:
            return False
        first, second = sorted(rng.sample(cuts, 2))
        head, _, rest = one.pieces[first].text.partition(". ")
        start, _, tail = one.pieces[second].text.rpartition(". ")
        middle = [Piece(rest), *one.pieces[first + 1 : second], Piece(f"{start}. ")]
        kept = [] if change == "dropped" else [*middle, *(Piece(piece.text, piece.number, piece.closes) for piece in middle)]
        one.pieces[first : second + 1] = [Piece(f"{head}. "), *kept, Piece(tail)]
        return True

    return spoil


KINDS: Final[Mapping[str, Spoil]] = {
    "nothing": lambda _, __: True,
    "marker dropped, opening": _one_marker(False, _dropped),
    "marker dropped, closing": _one_marker(True, _dropped),
    "marker doubled, opening": _one_marker(False, _doubled),
    "marker doubled, closing": _one_marker(True, _doubled),
    "pair doubled": _pair_doubled,
    "pair around another": _nested,
    "pairs crossing": _crossing,
    "marker misspelt": _one_marker(None, _spelled(_swapped)),
    "marker in capitals": _one_marker(None, _spelled(lambda _, marker: marker.upper())),
    "marker with blanks within": _one_marker(None, _spelled(_blanks_within)),
    "relevance as an attribute": _one_marker(False, _spelled(_attribute)),
    "marker without >": _one_marker(None, _spelled(_broken)),
    "closed as another type": _one_marker(True, _spelled(_other_type)),
    "marker of an unknown type": _one_marker(None, _spelled(_unknown_type)),
    "escapes left out": _escapes_dropped,
    "markers escaped": _markers_escaped,
    "blank moved into a mark": _blank_moved_in,
    "blank added in a mark": _blanks_around,
    "fenced": _fenced,
    "words before the answer": _preamble,
    "cut off": _cut_off,
    "letter changed, text": _in_text(_by_word(_letter), values=False),
    "word changed, text": _in_text(_other_word, values=False),
    "word left out, text": _in_text(_by_word(lambda _, __: ""), values=False),
    "word added, text": _in_text(_by_word(lambda rng, word: f"{word} {rng.choice(_WORDS)}"), values=False),
    "typography changed, text": _in_text(lambda _, text: text.translate(_typography), values=False),
    "line breaks changed": _in_text(lambda _, text: text.replace("\n", " "), values=False),
    "letter changed, value": _in_text(_by_word(_letter), values=True),
    "word changed, value": _in_text(_other_word, values=True),
    "case changed, value": _in_text(lambda _, text: text.swapcase(), values=True),
    "typography changed, value": _in_text(lambda _, text: text.translate(_typography), values=True),
    "sentence left out": _sentence("dropped"),
    "sentence twice": _sentence("twice"),
}
