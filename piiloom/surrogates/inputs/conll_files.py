"""CoNLL columns: a token a line, a blank line after each sentence, a tag in the last column (B-PER, I-PER, O).

A document goes from one ``-DOCSTART-`` or ``# newdoc`` line to the next; in a file without such lines each sentence is one. Its text is the
tokens with spaces between them, none inside of brackets and before punctuation, and a line break after each sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.given_spans import NOTHING_GIVEN, mentions_of
from piiloom.surrogates.inputs.parts import (
    NO_TEXT,
    CannotSpell,
    ConllLayout,
    FileChange,
    FilePart,
    FoundText,
    Parsed,
    SourceSettings,
    TextSlot,
    fault,
    with_changes,
)

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
    """A token: its range in the text, the range of its line without the line end, its fields, its sentence and its tag, if it has one."""

    word: str
    start: int
    end: int
    line_start: int
    line_end: int
    fields: tuple[str, ...]
    sentence: int
    tag: str | None


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
        self._ranges = [(start, end) for start, end, _ in _entities(tokens)]
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
                yield " ".join(field for field in fields if _TAG.fullmatch(field) is None)

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
        tags = _continued([token.tag for token in tokens], len(words))
        for number, word in enumerate(words):
            token = tokens[min(number, len(tokens) - 1)]
            line = raw[token.line_start : token.line_end]
            fields = list(_pattern(layout).finditer(line))
            changes = [(*fields[layout.token].span(), word)]
            if (tag := tags[number]) is not None:
                changes.append((*fields[layout.tag].span(), tag))
            yield with_changes(line, 0, len(line), sorted(changes))


def read_conll(part: FilePart, raw: str, settings: SourceSettings) -> Parsed:
    """Read a part of a file. A document is bad if one of its lines lacks the token's column, or with spans a tag."""
    layout = part.file.layout
    assert isinstance(layout, ConllLayout)  # noqa: S101 - such a file has one
    parsed = Parsed(raw, lines=raw.count("\n"))
    for lines in _documents(raw, layout, tagged=settings.takes_spans):
        if lines.unfit is not None:
            at, why = lines.unfit
            if not settings.skip_bad_rows:
                raise fault(part, raw, at, why, "Correct the line, or use --skip-bad-rows to set its document aside")
            parsed.set_aside(lines.start, lines.end, raw.count("\n", 0, at), why)
            continue
        parsed.rows += 1
        if not lines.tokens:
            parsed.notes.add(NO_TEXT, lines.first)
            continue
        text, placed = _placed(lines.tokens)
        given = NOTHING_GIVEN
        if settings.takes_spans and settings.kind_of is not None:
            spans = [{"start": start, "end": end, "type": kind} for start, end, kind in _entities(placed)]
            given = mentions_of(spans, text, settings.kind_of)
        parsed.found.append(FoundText(text, TokenSlot(raw, placed, layout), lines.id, lines.first, mentions=given.mentions))
    return parsed


@dataclass(slots=True)
class _Lines:
    """The lines of a document: its id, its first line, its tokens (not yet placed in a text), its place in the part.

    ``unfit`` is the offset of the first line that does not fit the columns, and the reason.
    """

    id: str | None = None
    first: int = 0
    tokens: list[ConllToken] = field(default_factory=list)
    start: int = 0
    end: int = 0
    unfit: tuple[int, str] | None = None

    def take(self, token: ConllToken | None, unfit: str | None, line: re.Match[str]) -> None:
        """Add a *line* with its *token*, or why it is *unfit*."""
        if unfit is not None:
            self.unfit = self.unfit or (line.start(), unfit)
        elif token is not None:
            self.tokens.append(token)
        self.end = line.end()


def _documents(raw: str, layout: ConllLayout, *, tagged: bool) -> Iterator[_Lines]:
    """Yield the lines of each document. With *tagged*, each line needs a tag."""
    sentence = 0
    own = _Lines()
    for number, match in enumerate(_LINE.finditer(raw)):
        line, start = match[1], match.start()
        if layout.mark and line.startswith(layout.mark):
            if own.end:
                yield own
            told = _ID.match(line)
            own = _Lines((told["a"] or told["b"]) if told else None, number)
        elif not line.strip():
            sentence += 1
            if not layout.mark and own.end:
                yield own
                own = _Lines()
        else:
            token = _token(line, start, sentence, layout)
            unfit = _fault_of(token, line, layout, tagged=tagged)
            if line.startswith("# ") and (layout.tabs or (tagged and unfit is not None)):
                continue  # a comment; where tokens have tags, one that begins so has a tag, too
            if not own.end:
                own.first, own.start = own.first if layout.mark else number, start
            own.take(token, unfit, match)
    if own.end:
        yield own


def _token(line: str, start: int, sentence: int, layout: ConllLayout) -> ConllToken | None:
    fields = tuple(_pattern(layout).findall(line))
    if layout.token >= len(fields):
        return None
    column = layout.tag if layout.tag >= 0 else len(fields) - 1
    is_tag = column < len(fields) and column != layout.token and _TAG.fullmatch(fields[column])
    return ConllToken(fields[layout.token], 0, 0, start, start + len(line), fields, sentence, fields[column] if is_tag else None)


def _fault_of(token: ConllToken | None, line: str, layout: ConllLayout, *, tagged: bool) -> str | None:
    """Return why *line* does not fit the columns of the file, None if it does."""
    if token is None or (layout.tabs and "\t" not in line.strip() and len(line.split()) > 1):
        return f"the line has other columns than the file, which separates them by {'tabs' if layout.tabs else 'blanks'}"
    if tagged and token.tag is None:
        return "no tag was read: the column of the tags holds none (O, B-TYPE, I-TYPE …)"
    return None


def _placed(tokens: Sequence[ConllToken]) -> tuple[str, list[ConllToken]]:
    """Return the text of *tokens*, and the tokens with their places in it."""
    text = ""
    placed: list[ConllToken] = []
    for token in tokens:
        before = placed[-1] if placed else None
        if before is not None:
            text += "\n" if before.sentence != token.sentence else _gap(before.word, token.word)
        placed.append(token._replace(start=len(text), end=len(text) + len(token.word)))
        text += token.word
    return text, placed


def _gap(before: str, word: str) -> str:
    return "" if before in _TIGHT_AFTER or word in _TIGHT_BEFORE else " "


def _joined(words: Sequence[str]) -> str:
    return "".join((_gap(words[number - 1], word) if number else "") + word for number, word in enumerate(words))


def _entities(tokens: Sequence[ConllToken]) -> Iterator[tuple[int, int, str]]:
    """Yield start and end in the text, and the type, of each tagged entity, which lies within one sentence."""
    from piiloom.corpus.formats.token_labels import OUTSIDE, tagged_spans  # noqa: PLC0415 - loads records, which other formats need not

    for _, group in groupby(tokens, key=attrgetter("sentence")):
        sentence = list(group)
        for first, last, kind in tagged_spans([token.tag or OUTSIDE for token in sentence]):
            yield sentence[first].start, sentence[last].end, kind


def _pattern(layout: ConllLayout) -> re.Pattern[str]:
    return _TAB if layout.tabs else _BLANKS


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
