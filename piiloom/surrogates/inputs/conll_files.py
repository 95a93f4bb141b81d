"""CoNLL columns: a token a line, a blank line after each sentence, a tag in the last column (B-PER, I-PER, O).

A document goes from one ``-DOCSTART-`` or ``# newdoc`` line to the next; in a file without such lines each sentence is one. Its text is the
tokens with spaces between them, none inside of brackets and before punctuation, and a line break after each sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.documents import Mention, Replaced
from piiloom.surrogates.inputs.given_spans import mentions_of
from piiloom.surrogates.inputs.parts import NO_TEXT, CannotSpell, ConllLayout, Found, InputSettings, Notes, Parsed, Part, fault
from piiloom.surrogates.inputs.token_tags import continued, tag_in

_HEAD: Final = 1 << 16
_STARTS: Final = (b"-DOCSTART-", b"# newdoc")
_LINE: Final = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_TAB: Final = re.compile(r"[^\t]+")
_BLANKS: Final = re.compile(r"[^ \t]+")
_ID: Final = re.compile(r"(?:-DOCSTART-\s+\((?P<a>[^()\s]+)\))|(?:# newdoc id\s*=\s*(?P<b>\S.*))")
_TIGHT_BEFORE: Final = frozenset("]>)},.;:!?")
_TIGHT_AFTER: Final = frozenset("[<({")


class Token(NamedTuple):
    """A token: its range in the text, the range of its line without the line end, its fields, and which sentence it is in."""

    word: str
    start: int
    end: int
    line_start: int
    line_end: int
    fields: tuple[str, ...]
    sentence: int


def conll_layout(path: Path, name: str, settings: InputSettings) -> ConllLayout:
    """Return the layout of the file at *path* (UTF-8). Raises ``UsageError`` if a column is named that is no number."""
    with path.open("rb") as fh:
        head = fh.read(_HEAD)
    marks = [mark for mark in _STARTS if head.lstrip(b"\xef\xbb\xbf\r\n ").startswith(mark)]
    columns = []
    word = settings.text_fields[0] if settings.text_fields else "1"
    for option, told in (("--text-field", word), ("--spans-field", settings.spans_field or "")):
        if told in {"", "spans"}:
            columns.append(-1)
        elif told.isdecimal() and int(told):
            columns.append(int(told) - 1)
        else:
            raise UsageError(f"{told!r} is no column of a CoNLL file", where=name, remedy=f"Give its number to {option}, from 1 on")
    lines = [line for line in head.split(b"\n") if line.strip() and not line.startswith((b"# ", *_STARTS))]
    tabs = 2 * sum(b"\t" in line.strip() for line in lines) > len(lines)  # one tab among blanks is a fault of its line
    return ConllLayout(marks[0].decode() if marks else "", tabs, columns[0], columns[1])


class TokenSlot:
    """The ``Slot`` of the token lines of a document."""

    __slots__ = ("_ending", "_layout", "_tokens", "end", "ranges", "start")

    def __init__(self, raw: str, tokens: Sequence[Token], layout: ConllLayout) -> None:
        self._tokens, self._layout = tokens, layout
        self.start, self.end = tokens[0].line_start, tokens[-1].line_end
        self.ranges = [(start, end) for start, end, _ in _entities(tokens, layout)]
        self._ending = "\r\n" if raw.startswith("\r\n", tokens[0].line_end) else "\n"

    def rest(self, raw: str) -> list[str]:
        """Return the lines between tokens: blank ones and comments."""
        return [raw[one.line_end : other.line_start].strip("\r\n") for one, other in _breaks(self._tokens)]

    def other_columns(self) -> Iterator[str]:
        """Yield the words of each column that holds neither tokens nor tags."""
        most = max(len(token.fields) for token in self._tokens)
        for column in range(most):
            if column != self._layout.token:
                fields = [token.fields[column] for token in self._tokens if column < len(token.fields)]
                yield " ".join(field for field in fields if tag_in(field) is None)

    def columns_outside(self, ranges: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
        """Return the fields of the tokens that none of *ranges* (of the text) touches."""
        found, number = [], 0
        for token in self._tokens:
            while number < len(ranges) and ranges[number][1] <= token.start:
                number += 1
            if number == len(ranges) or token.end <= ranges[number][0]:
                found.append(token.fields)
        return found

    def rewritten(self, raw: str, replaced: Replaced) -> str:
        """See ``Slot``. Raises ``CannotSpell`` for a placeholder that goes over the end of a sentence, or a value that no tokens spell."""
        out: list[str] = []
        at = self.start
        for first, last, words in self._groups(replaced):
            tokens = self._tokens[first : last + 1]
            if tokens[0].sentence != tokens[-1].sentence:
                raise CannotSpell("a placeholder goes over the end of a sentence")
            out += (raw[at : tokens[0].line_start], self._ending.join(self._lines(raw, tokens, words)))
            at = tokens[-1].line_end
        out.append(raw[at : self.end])
        return "".join(out)

    def _groups(self, replaced: Replaced) -> Iterator[tuple[int, int, list[str]]]:
        """Yield the tokens that change together (first and last), and the words that take their place."""
        tokens, number = self._tokens, 0
        places = list(replaced.placed)
        at = 0
        while at < len(places):
            while tokens[number].end <= places[at].start:
                number += 1
            first = last = number
            begin = at
            while at < len(places) and places[at].start < tokens[last].end:
                while tokens[last].end < places[at].end:
                    last += 1
                at += 1
            start = places[begin].new_start - (places[begin].start - tokens[first].start)
            end = places[at - 1].new_end + (tokens[last].end - places[at - 1].end)
            value = replaced.text[start:end]
            words = value.split()
            if _joined(words) != value:
                raise CannotSpell("a surrogate cannot be told in tokens")
            yield first, last, words
            number = last

    def _lines(self, raw: str, tokens: Sequence[Token], words: Sequence[str]) -> Iterator[str]:
        layout = self._layout
        tags = continued([_tag(token, layout) for token in tokens], len(words))
        for number, word in enumerate(words):
            token = tokens[min(number, len(tokens) - 1)]
            line = raw[token.line_start : token.line_end]
            fields = list(_pattern(layout).finditer(line))
            changes = [(*fields[layout.token].span(), word)]
            if (tag := tags[number]) is not None:
                changes.append((*fields[layout.tag].span(), tag))
            for start, end, new in sorted(changes, reverse=True):
                line = line[:start] + new + line[end:]
            yield line


class ConllParsed(Parsed):
    """A part of a CoNLL file."""

    def beside(self) -> Iterator[tuple[int, str]]:
        """Yield the columns that ``rewritten`` does not change, with what ``Parsed`` yields."""
        yield from Parsed.beside(self)
        for one in self.found:
            assert isinstance(one.slot, TokenSlot)  # noqa: S101 - made below
            yield from ((one.line, words) for words in one.slot.other_columns())


def read_conll(part: Part, raw: str, settings: InputSettings) -> Parsed:
    """Read a part of a file. A document is bad if one of its lines lacks the token's column, or with spans a tag."""
    layout = part.file.layout
    assert isinstance(layout, ConllLayout)  # noqa: S101 - such a file has one
    parsed = ConllParsed(raw, [], 0, raw.count("\n"), Notes())
    for tokens, row_id, line, (start, end), unfit in _documents(raw, layout, tagged=settings.takes_spans):
        if unfit is not None:
            if not settings.skip_bad_rows:
                raise fault(part, raw, unfit[0], unfit[1], "Correct the line, or use --skip-bad-rows to set its document aside")
            parsed.set_aside(start, end, raw.count("\n", 0, unfit[0]), unfit[1])
            continue
        parsed.rows += 1
        if not tokens:
            parsed.notes.add(NO_TEXT, line)
            continue
        text, placed = _placed(tokens)
        mentions: tuple[Mention, ...] | None = None
        if settings.takes_spans and settings.kind_of is not None:
            spans = [{"start": start, "end": end, "type": kind} for start, end, kind in _entities(placed, layout)]
            mentions = mentions_of(spans, text, settings.kind_of).mentions
        parsed.found.append(Found(text, row_id, line, "", TokenSlot(raw, placed, layout), mentions))
    return parsed


class _Lines(NamedTuple):
    """The lines of a document: its tokens (not yet placed in a text), its id, its first line, its place in the part.

    ``unfit`` is the offset of the first line that does not fit the columns, and the reason.
    """

    tokens: list[Token]
    id: str | None = None
    first: int = 0
    place: tuple[int, int] = (0, 0)
    unfit: tuple[int, str] | None = None


def _documents(raw: str, layout: ConllLayout, *, tagged: bool) -> Iterator[_Lines]:
    """Yield the lines of each document. With *tagged*, each line needs a tag."""
    sentence = 0
    own = _Lines([])
    for number, match in enumerate(_LINE.finditer(raw)):
        line, start = match[1], match.start()
        if start == len(raw):
            break
        if layout.mark and line.startswith(layout.mark):
            if own.place[1]:
                yield own
            told = _ID.match(line)
            own = _Lines([], (told["a"] or told["b"]) if told else None, number)
        elif not line.strip():
            sentence += 1
            if not layout.mark and own.place[1]:
                yield own
                own = _Lines([])
        else:
            own = _with_line(own, line, (number, start, match.end(), sentence), layout, tagged=tagged)
    if own.place[1]:
        yield own


def _with_line(own: _Lines, line: str, place: tuple[int, int, int, int], layout: ConllLayout, *, tagged: bool) -> _Lines:
    """Return the document with its next *line*, which has the number, start, end and sentence *place*."""
    number, start, end, sentence = place
    token = _token(line, start, sentence, layout)
    unfit = _fault_of(token, line, layout, tagged=tagged)
    if line.startswith("# ") and (layout.tabs or (tagged and unfit is not None)):
        return own  # a comment; where tokens have tags, one that begins so has a tag, too
    if not own.place[1]:
        own = own._replace(first=own.first if layout.mark else number, place=(start, start))
    if unfit is None and token is not None:
        own.tokens.append(token)
    return own._replace(place=(own.place[0], end), unfit=own.unfit or ((start, unfit) if unfit is not None else None))


def _token(line: str, start: int, sentence: int, layout: ConllLayout) -> Token | None:
    fields = _pattern(layout).findall(line)
    return Token(fields[layout.token], 0, 0, start, start + len(line), tuple(fields), sentence) if layout.token < len(fields) else None


def _fault_of(token: Token | None, line: str, layout: ConllLayout, *, tagged: bool) -> str | None:
    """Return why *line* does not fit the columns of the file, None if it does."""
    if token is None or (layout.tabs and "\t" not in line.strip() and len(line.split()) > 1):
        return f"the line has other columns than the file, which separates them by {'tabs' if layout.tabs else 'blanks'}"
    if tagged and _tag(token, layout) is None:
        return "no tag was read: the column of the tags holds none (O, B-TYPE, I-TYPE …)"
    return None


def _placed(tokens: Sequence[Token]) -> tuple[str, list[Token]]:
    """Return the text of *tokens*, and the tokens with their places in it."""
    pieces: list[str] = []
    placed: list[Token] = []
    at = 0
    for number, token in enumerate(tokens):
        if number:
            before = tokens[number - 1]
            gap = "\n" if before.sentence != token.sentence else _gap(before.word, token.word)
            pieces.append(gap)
            at += len(gap)
        pieces.append(token.word)
        placed.append(token._replace(start=at, end=at + len(token.word)))
        at += len(token.word)
    return "".join(pieces), placed


def _gap(before: str, word: str) -> str:
    return "" if before in _TIGHT_AFTER or word in _TIGHT_BEFORE else " "


def _joined(words: Sequence[str]) -> str:
    return "".join((_gap(words[number - 1], word) if number else "") + word for number, word in enumerate(words))


def _breaks(tokens: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    return ((one, other) for one, other in pairwise(tokens) if one.sentence != other.sentence)


def _tag(token: Token, layout: ConllLayout) -> str | None:
    """Return the tag of a token; None if its line has none."""
    column = layout.tag if layout.tag >= 0 else len(token.fields) - 1
    return tag_in(token.fields[column]) if column < len(token.fields) and column != layout.token else None


def _entities(tokens: Sequence[Token], layout: ConllLayout) -> Iterator[tuple[int, int, str]]:
    """Yield start and end in the text, and the type, of each tagged entity, which lies within one sentence."""
    from piiloom.corpus.formats.token_labels import OUTSIDE, tagged_spans  # noqa: PLC0415 - loads records, which other formats need not

    for _, group in groupby(tokens, key=attrgetter("sentence")):
        sentence = list(group)
        for first, last, kind in tagged_spans([_tag(token, layout) or OUTSIDE for token in sentence]):
            yield sentence[first].start, sentence[last].end, kind


def _pattern(layout: ConllLayout) -> re.Pattern[str]:
    return _TAB if layout.tabs else _BLANKS
