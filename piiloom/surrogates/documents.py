"""Documents with their mentions and surrogates, and the seeds of all random choices.

All seeds of a run come from its key, by HMAC: nobody can compute them from the outputs and the code without the key. A choice depends
only on its 64-bit seed, and so is the same in every process.

``mix`` uses CPython's hash of a tuple of two integers, which is an xxHash of their values. Hash randomization does not affect it (that
is for str and bytes). It is the same since CPython 3.8 on every 64-bit machine, and several times as fast as integer arithmetic in
Python. The hash has no final avalanche step, so the salt goes into both integers. Otherwise the values for two salts would differ by
nearly the same amount for every seed. Tests compare it with known numbers, to notice a Python with another hash, and with chance. The
hash can be inverted, so a seed could be found from the values drawn from it. ``parted`` gives seeds from which no other is found.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Final, Literal, NamedTuple, TypeVar

T = TypeVar("T")
_MASK: Final = 0xFFFFFFFFFFFFFFFF
_GOLDEN: Final = 0x9E3779B97F4A7C15
_EIGHT: Final = Struct(">8Q")
_THREE: Final = Struct(">3Q")


class DocumentSeeds(NamedTuple):
    """Seeds of one document, of which none tells another.

    ``people`` is for names and all that belongs to people, ``shift`` for the days by which known dates move, ``days`` for dates that are
    drawn, ``values`` for all other values. ``style`` is for ways of writing, which a reader sees.
    """

    people: int
    shift: int
    days: int
    values: int
    style: int


def keyed_seeds(key: bytes, purpose: str, *parts: object) -> tuple[int, ...]:
    """Return eight independent seeds that only *key*, *purpose* and *parts* together determine (HMAC-SHA512)."""
    message = "\0".join((purpose, *map(str, parts))).encode("utf-8", "surrogatepass")
    return _EIGHT.unpack(hmac.digest(key, message, "sha512"))


def document_seeds(key: bytes, text: str, ordinal: int) -> DocumentSeeds:
    """Return the seeds of the document *text*, before which *ordinal* documents of the same text come."""
    return DocumentSeeds(*keyed_seeds(key, "document", ordinal, text)[: len(DocumentSeeds._fields)])


def parted(seed: int) -> tuple[int, int, int]:
    """Return three seeds, from which neither *seed* nor one another can be found."""
    return _THREE.unpack(hashlib.blake2b(seed.to_bytes(8, "big"), digest_size=_THREE.size).digest())


def seed_of(*parts: object) -> int:
    """Return a 64-bit seed for *parts*, which are distinguished by their ``repr``."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def mix(seed: int, salt: int) -> int:
    """Derive another 64-bit seed from *seed* and *salt*."""
    return hash((seed ^ salt * _GOLDEN, salt)) & _MASK


def below(seed: int, limit: int) -> int:
    """Return a number from 0 to *limit* - 1. Up to a *limit* of 2**32 the modulo bias is negligible."""
    return seed % limit


def pick(seed: int, items: Sequence[T]) -> T:
    """Return one of *items* (not empty), each with the same probability."""
    return items[seed % len(items)]


Same = Literal["mention", "document", "corpus"]
Gender = Literal["female", "male"]


class Mention(NamedTuple):
    """A range ``[start, end)`` of the input text (code points), and what the placeholder or the given span says about it.

    ``kind`` is one of ``data/kinds.yaml``. Mentions of one kind with equal ``role`` and ``index`` are the same person, place …
    within the scope ``same``; with ``same="mention"`` each one without ``index`` is a new one. ``form`` is the form of a name
    ("full", "given", "family", "initials", "nick", "family_given") or a variant of another kind; "" leaves it to the kind.
    ``gender`` is the gender that the role implies ("dochter"). ``original`` is the replaced text, where it is known.
    ``plural``: two or more people. ``rule`` names the mapping rule that found the mention.
    """

    start: int
    end: int
    kind: str
    role: str = ""
    index: str = ""  # type: ignore[assignment]  # hides tuple.index, which is not used
    same: Same = "document"
    form: str = ""
    gender: Gender | None = None
    original: str = ""
    plural: bool = False
    rule: str = ""


class Document(NamedTuple):
    """One text. ``number`` is its position in the input (0-based), ``ordinal`` the number of documents of the same text before it.

    ``mentions`` is set if the input brought spans; if None, the finder looks for placeholders in the text. ``question_at``: where the
    question about the text begins, which is at its end (``inputs.text_cells``). ``lines_apart``: a surrogate cannot go over a line's end.
    ``covered`` are given spans that others cover: they are not replaced, but their values are known. ``turns``: where the turn of each
    speaker begins, and who that is ("student"), if the input has a column of them.
    """

    number: int
    id: str
    text: str
    file: str
    line: int | None = None
    mentions: tuple[Mention, ...] | None = None
    question_at: int | None = None
    lines_apart: bool = False
    covered: tuple[Mention, ...] = ()
    turns: tuple[tuple[int, str], ...] = ()
    ordinal: int = 0

    @property
    def place(self) -> str:
        """The place of the text for messages: file and line, or the id of a text that is a file."""
        return self.id if self.line is None else f"{self.file}:{self.line}"


class Placed(NamedTuple):
    """One surrogate: ``[start, end)`` in the input text became ``[new_start, new_end)`` of the output text.

    All offsets are code points. Surrogates with the same ``value_id`` belong to one person, place or value of the document.
    """

    start: int
    end: int
    new_start: int
    new_end: int
    kind: str
    entity_type: str
    subtype: str | None
    value_id: str
    role: str


@dataclass(slots=True)
class Replaced:
    """The output text of a document and its surrogates, in text order.

    ``unknown`` (placeholders of unknown meaning) and ``left`` (brackets that are no placeholders) are ranges of the input text.
    ``tallies`` are counts that are summed over all documents for the report. ``person_groups``: the groups of the people by role, if
    records are to state them.
    """

    text: str
    placed: list[Placed]
    unknown: Sequence[tuple[int, int]] = ()
    left: Sequence[tuple[int, int]] = ()
    tallies: dict[str, int] = field(default_factory=dict)
    person_groups: dict[str, list[str]] | None = None
