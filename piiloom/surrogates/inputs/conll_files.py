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
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.given_spans import NOTHING_GIVEN, mentions_of
from piiloom.surrogates.inputs.input_settings import SourceSettings
from piiloom.surrogates.inputs.parts import NO_TEXT, CannotSpell, ConllLayout, FileChange, FilePart, FoundText, Parsed, TextSlot, fault

_HEAD: Final = 1 << 16
_STARTS: Final = (b"-DOCSTART-", b"# newdoc")
_LINE: Final = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")
_TAB: Final = re.compile(r"[^\t]+")
_BLANKS: Final = re.compile(r"[^ \t]+")
_ID: Final = re.compile(r"(?:-DOCSTART-\s+\((?P<a>[^()\s]+)\))|(?:# newdoc id\s*=\s*(?P<b>\S.*))")
_TAG: Final = re.compile(r"O|[BIESLU]-\S+")  # IOB, with S- and E- (IOBES) or U- and L- (BILOU) for single and last tokens
_BEGINS: Final = "BSU"
_ENDS: Final = "SUEL"
_TIGHT_BEFORE: Final = frozenset("]>)},.;:!?")
_TIGHT_AFTER: Final = frozenset("[<({")


class ConllToken(NamedTuple):
    """A token: its range in the text, the range of its line without the line end, its fields, and which sentence it is in."""

    word: str
    start: int
    end: int
    line_start: int
    line_end: int
    fields: tuple[str, ...]
    sentence: int


def conll_layout(path: Path, name: str, settings: SourceSettings) -> ConllLayout:
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


class TokenSlot(TextSlot):
    """The token lines of a document."""

    __slots__ = ("_ending", "_layout", "_ranges", "_tokens")

    def __init__(self, raw: str, tokens: Sequence[ConllToken], layout: ConllLayout) -> None:
        super().__init__(tokens[0].line_start, tokens[-1].line_end)
        self._tokens, self._layout = tokens, layout
        self._ranges = [(start, end) for start, end, _ in _entities(tokens, layout)]
        self._ending = "\r\n" if raw.startswith("\r\n", tokens[0].line_end) else "\n"

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The tagged entities."""
        return self._ranges

    def rest(self, parsed: Parsed) -> list[str]:
        """Return the lines between tokens: blank ones and comments."""
        breaks = ((one, other) for one, other in pairwise(self._tokens) if one.sentence != other.sentence)
        return [parsed.raw[one.line_end : other.line_start].strip("\r\n") for one, other in breaks]

    def columns(self) -> Iterator[str]:
        """Yield the words of each column that holds neither tokens nor tags; ``changes`` does not change them."""
        most = max(len(token.fields) for token in self._tokens)
        for column in range(most):
            if column != self._layout.token:
                fields = [token.fields[column] for token in self._tokens if column < len(token.fields)]
                yield " ".join(field for field in fields if _tag_in(field) is None)

    def columns_outside(self, ranges: Sequence[tuple[int, int]]) -> list[tuple[str, ...]]:
        """Return the fields of the tokens that none of *ranges* (of the text) touches."""
        found, number = [], 0
        for token in self._tokens:
            while number < len(ranges) and ranges[number][1] <= token.start:
                number += 1
            if number == len(ranges) or token.end <= ranges[number][0]:
                found.append(token.fields)
        return found

    def changes(self, parsed: Parsed, replaced: Replaced) -> Iterator[FileChange]:
        """See ``TextSlot``. Raises ``CannotSpell`` for a placeholder over the end of a sentence, or a value that no tokens spell."""
        for first, last, words in self._groups(replaced):
            tokens = self._tokens[first : last + 1]
            if tokens[0].sentence != tokens[-1].sentence:
                raise CannotSpell("a placeholder goes over the end of a sentence")
            yield tokens[0].line_start, tokens[-1].line_end, self._ending.join(self._lines(parsed.raw, tokens, words))

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

    def _lines(self, raw: str, tokens: Sequence[ConllToken], words: Sequence[str]) -> Iterator[str]:
        layout = self._layout
        tags = _continued([_tag(token, layout) for token in tokens], len(words))
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


def read_conll(part: FilePart, raw: str, settings: SourceSettings) -> Parsed:
    """Read a part of a file. A document is bad if one of its lines lacks the token's column, or with spans a tag."""
    layout = part.file.layout
    assert isinstance(layout, ConllLayout)  # noqa: S101 - such a file has one
    parsed = Parsed(raw, lines=raw.count("\n"))
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
        given = NOTHING_GIVEN
        if settings.takes_spans and settings.kind_of is not None:
            spans = [{"start": start, "end": end, "type": kind} for start, end, kind in _entities(placed, layout)]
            given = mentions_of(spans, text, settings.kind_of)
        parsed.found.append(FoundText(text, TokenSlot(raw, placed, layout), row_id, line, mentions=given.mentions))
    return parsed


class _Lines(NamedTuple):
    """The lines of a document: its tokens (not yet placed in a text), its id, its first line, its place in the part.

    ``unfit`` is the offset of the first line that does not fit the columns, and the reason.
    """

    tokens: list[ConllToken]
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


def _token(line: str, start: int, sentence: int, layout: ConllLayout) -> ConllToken | None:
    fields = _pattern(layout).findall(line)
    return ConllToken(fields[layout.token], 0, 0, start, start + len(line), tuple(fields), sentence) if layout.token < len(fields) else None


def _fault_of(token: ConllToken | None, line: str, layout: ConllLayout, *, tagged: bool) -> str | None:
    """Return why *line* does not fit the columns of the file, None if it does."""
    if token is None or (layout.tabs and "\t" not in line.strip() and len(line.split()) > 1):
        return f"the line has other columns than the file, which separates them by {'tabs' if layout.tabs else 'blanks'}"
    if tagged and _tag(token, layout) is None:
        return "no tag was read: the column of the tags holds none (O, B-TYPE, I-TYPE …)"
    return None


def _placed(tokens: Sequence[ConllToken]) -> tuple[str, list[ConllToken]]:
    """Return the text of *tokens*, and the tokens with their places in it."""
    pieces: list[str] = []
    placed: list[ConllToken] = []
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


def _tag(token: ConllToken, layout: ConllLayout) -> str | None:
    """Return the tag of a token; None if its line has none."""
    column = layout.tag if layout.tag >= 0 else len(token.fields) - 1
    return _tag_in(token.fields[column]) if column < len(token.fields) and column != layout.token else None


def _entities(tokens: Sequence[ConllToken], layout: ConllLayout) -> Iterator[tuple[int, int, str]]:
    """Yield start and end in the text, and the type, of each tagged entity, which lies within one sentence."""
    from piiloom.corpus.formats.token_labels import OUTSIDE, tagged_spans  # noqa: PLC0415 - loads records, which other formats need not

    for _, group in groupby(tokens, key=attrgetter("sentence")):
        sentence = list(group)
        for first, last, kind in tagged_spans([_tag(token, layout) or OUTSIDE for token in sentence]):
            yield sentence[first].start, sentence[last].end, kind


def _pattern(layout: ConllLayout) -> re.Pattern[str]:
    return _TAB if layout.tabs else _BLANKS


def _tag_in(field: str) -> str | None:
    """Return *field* if it is a tag, else None."""
    return field if _TAG.fullmatch(field) else None


def _continued(tags: Sequence[str | None], count: int) -> list[str | None]:
    """Return the tags of *count* tokens that take the place of those with *tags*. If some of these are of an entity, all new ones are."""
    told = [tag for tag in tags if tag not in {None, "O"}]
    if not told or None in tags:
        return [tags[0]] * count
    first, last, label = str(told[0]), str(told[-1]), str(told[0])[2:]
    whole = len(told) == len(tags)
    begins, ends = first[0] in _BEGINS or not whole, last[0] in _ENDS
    single, end = ("U", "L") if {first[0], last[0]} & {"U", "L"} else ("S", "E")
    found: list[str | None] = [f"I-{label}"] * count
    if begins:
        found[0] = f"B-{label}"
    if ends:
        found[-1] = f"{single if begins and count == 1 else end}-{label}"
    return found
