"""Known originals outside of the given spans (``--same-value``): which are replaced, and how many remain.

A whole value is replaced in any spelling; a single word of a person's name only with a capital, and if it is no other word of the language.
Whatever is not replaced is counted, also in other documents, fields, names of files and headers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from piiloom.corpus.known_values import Known, PackedValues, ValueTable, like_names_in, repeats
from piiloom.foundation.words import Range
from piiloom.surrogates.documents import Document, Mention
from piiloom.surrogates.known_names import birth_name_in, names_within, parts_of
from piiloom.surrogates.settings import SameValue

RULE: Final = "same value"
_PREFIX: Final = "known original "  # of tallies
_REPLACED, _UNSURE, _SHORT = "replaced", "unsure", "short numbers"
FIELDS, FILE_NAMES, HEADERS = "other fields", "file names", "headers"
PLACES: Final = ("same document", "other documents", FIELDS, FILE_NAMES, HEADERS)
_PERSON: Final = "person"
KnownEntry = tuple[Any, ...] | None  # kind, form, and what ``Known`` has besides
Entry = tuple[int, KnownEntry]


class SameValues:
    """Finds known originals in the texts of a corpus. ``corpus`` are those of all documents, as soon as they are known."""

    def __init__(self, mode: SameValue, language: str) -> None:
        self.mode = mode
        self.corpus: PackedValues | None = None
        self._like_names = like_names_in(language)

    def widened(self, document: Document) -> Sequence[Mention]:
        """Return the mentions that came with *document*, and those that ``mode`` adds, in text order."""
        mentions = document.mentions or ()
        tables = self._tables(_table_of(document))[: {"off": 0, "document": 1, "corpus": 2}[self.mode]]
        if not tables:
            return mentions
        found = [
            _mention(one.known.what, one.start, one.end, document.text) for one in self._repeats(document, mentions, tables) if one.sure
        ]
        return sorted([*mentions, *found]) if found else mentions

    def tallies(self, document: Document, mentions: Sequence[Mention]) -> dict[str, int]:
        """Return how many known originals outside of the given spans were replaced, and how many are left, by place."""
        own = _table_of(document)
        counts = {_REPLACED: sum(mention.rule == RULE for mention in mentions)}
        for one in self._repeats(document, mentions, self._tables(own)):
            is_own = one.key in own
            if is_own or _is_telling(one.key):
                _count(counts, PLACES[0 if is_own else 1], sure=one.sure)
            else:
                _count(counts, _SHORT, sure=True)
        return {_PREFIX + key: count for key, count in counts.items() if count}

    def tallies_of(self, place: str, texts: Iterable[str]) -> dict[str, int]:
        """Return how many known originals *texts* hold, which are no text of a document: fields, names of files, headers (*place*)."""
        counts: dict[str, int] = {}
        if self.corpus is not None:
            for text in texts:
                for one in repeats(text, [self.corpus], like_names=self._like_names):
                    if _is_telling(one.key):
                        _count(counts, place, sure=one.sure)
        return {_PREFIX + key: count for key, count in counts.items()}

    def _tables(self, own: ValueTable) -> list[ValueTable | PackedValues]:
        return [own, *([self.corpus] if self.corpus is not None else [])]

    def _repeats(self, document: Document, mentions: Sequence[Mention], tables: Sequence[ValueTable | PackedValues]) -> Iterable[Any]:
        taken: list[Range] = [(mention.start, mention.end) for mention in mentions]
        return repeats(document.text, tables, taken=taken, like_names=self._like_names, lines=document.lines_apart)


def entries_of(document: Document) -> list[Entry]:
    """Return what ``packed_values`` needs to know of the originals of *document*; it can be marshalled."""
    return [
        (digest, None if known is None else (known.what.kind, known.what.form, *known[1:]))
        for digest, known in _table_of(document).digests()
    ]


def merge_entries(known: dict[int, KnownEntry], entries: Iterable[Entry]) -> None:
    """Add the *entries* of a later document to *known*. The first value of equal words stays, but a whole one replaces a part."""
    for digest, told in entries:
        before = known.get(digest)
        if before is None or (told is not None and before[-1] and not told[-1]):
            known[digest] = told


def packed_values(entries: Iterable[Entry]) -> PackedValues:
    """Return the known values of a corpus, from the merged entries of its documents."""
    return PackedValues({digest: None if told is None else Known(told[:2], *told[2:]) for digest, told in entries})


def known_report(mode: SameValue, tallies: Mapping[str, int]) -> dict[str, object]:
    """Return the entry of ``report.json``."""
    return {
        "same_value": mode,
        "replaced_without_a_span": tallies.get(_PREFIX + _REPLACED, 0),
        "left": {place: tallies.get(_PREFIX + place, 0) for place in PLACES},
        "left_and_maybe_other_words": tallies.get(_PREFIX + _UNSURE, 0),
        "short_numbers_of_other_documents": tallies.get(_PREFIX + _SHORT, 0),
    }


def known_warnings(tallies: Mapping[str, int], first: Mapping[str, str], mode: SameValue) -> list[str]:
    """Return the warning of known originals that are left, if there are any. *first* are the first places of those in no document."""
    left = {place: tallies[_PREFIX + place] for place in PLACES if tallies.get(_PREFIX + place)}
    if not left:
        return []
    told = ", ".join(
        f"{count} in {'the ' if place == PLACES[0] else ''}{place}"
        + (f" (first: {first[_PREFIX + place]})" if _PREFIX + place in first else "")
        for place, count in left.items()
    )
    unsure = tallies.get(_PREFIX + _UNSURE, 0)
    maybe = f"; {unsure} of them may be other words or numbers" if unsure else ""
    remedy = "; --same-value corpus replaces those of other documents" if PLACES[1] in left and mode != "corpus" else ""
    return [f"known originals that stand where no span marks them, and stay in the output: {told}{maybe}{remedy}"]


@lru_cache(maxsize=1)  # a scan needs the table of a document twice, one right after the other
def _table_of(document: Document) -> ValueTable:
    """Return the originals of *document*, and the parts of names among them that may stand alone."""
    table, mentions = ValueTable(), (*(document.mentions or ()), *document.covered)
    for mention in mentions:
        if mention.original:
            table.note(mention.original, mention, name=mention.kind == _PERSON)
    for mention in mentions:
        if mention.kind == _PERSON:
            birth = birth_name_in(mention.original)
            names = [*names_within(mention.original)[::2], *([mention.original[birth.end() :]] if birth else [])]
            for word in dict.fromkeys(word.text for name in names for word in parts_of(name)):
                if word != mention.original and not word[0].islower():
                    table.note(word, mention._replace(form=""), name=True, part=True)
    return table


def _mention(what: Mention | tuple[str, str], start: int, end: int, text: str) -> Mention:
    if isinstance(what, Mention):
        return what._replace(start=start, end=end, original=text[start:end], rule=RULE)
    kind, form = what
    return Mention(start, end, kind, form=form, original=text[start:end], rule=RULE)


def _is_telling(key: str) -> bool:
    """Whether the words *key* tell something of other documents: ages, days and years stand everywhere."""
    return any(map(str.isalpha, key)) or len(key) > 4


def _count(counts: dict[str, int], place: str, *, sure: bool) -> None:
    counts[place] = counts.get(place, 0) + 1
    if not sure:
        counts[_UNSURE] = counts.get(_UNSURE, 0) + 1
