"""What a model can be tuned to, and the rows for it: those that the exports write, in which the detectors ask, too."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

from piiloom.corpus.formats.base import Format, Json, LossReport, WriteOptions
from piiloom.corpus.formats.instruction_tuning import MOST_TOKENS, ChatFormat, OpenAIFineTuningFormat
from piiloom.corpus.formats.verifier import FILES, VerifierFormat
from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.record import Record
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import Taxonomy

# Four bytes a token is the usual estimate for English; the other figure is a careful one. By o200k_base, the tokenizer of the GPT-4o and
# GPT-4.1 families, rows have 4.2 to 4.4 in English, 3.4 in Dutch and Chinese, 2.9 in Polish; not one of 2,900 has fewer than 2.6.
BYTES_A_TOKEN: Final = 4.0
FEWEST_BYTES_A_TOKEN: Final = 2.5
# What OpenAI's chat format adds to a message, and to an example.
_TOKENS_A_MESSAGE: Final = 3
_TOKENS_AN_EXAMPLE: Final = 3

TOO_LONG: Final = f"probably more than {MOST_TOKENS:,} tokens, where OpenAI would cut the answer off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a model is tuned to: the format of its rows (``file``: which one of several that it writes), and how ``detect`` uses it.

    ``relevance``: the rows need spans that are judged against questions.
    """

    name: str
    about: str
    format: Format
    detect: str
    file: str | None = None
    relevance: bool = False


_ALL: Final = (
    Task(
        name="markers",
        about="give the text back with marks around what it finds",
        format=OpenAIFineTuningFormat(),
        detect="--detector markers",
    ),
    Task(
        name="capid",
        about="list what it finds as JSON, with its relevance to the question",
        format=ChatFormat(),
        detect="--detector capid",
        relevance=True,
    ),
    Task(
        name="verifier-1",
        about="judge one finding: T or F",
        format=VerifierFormat(),
        file=FILES[0],
        detect="--detector patterns --verify 1",
    ),
    Task(
        name="verifier-2",
        about="judge one finding, with a reasoning before it",
        format=VerifierFormat(),
        file=FILES[1],
        detect="--detector patterns --verify 2",
    ),
)
TASKS: Final[Mapping[str, Task]] = MappingProxyType({task.name: task for task in _ALL})


def get_task(name: str) -> Task:
    """Return the task called *name*; raises ``UsageError`` if there is none."""
    try:
        return TASKS[name]
    except KeyError:
        raise UsageError(f"there is no task {name!r}", where="--task", remedy=f"Choose one of {', '.join(TASKS)}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The lines of a file for OpenAI, and what is not in it.

    ``tokens`` is an estimate and ``most_tokens`` a careful one; both count each example once. ``left_out`` are (line number among all
    rows, reason); ``loss`` is what the format could not express.
    """

    lines: Sequence[bytes]
    tokens: int
    most_tokens: int
    left_out: Sequence[tuple[int, str]]
    loss: LossReport


def make_rows(task: Task, records: Iterable[Record], taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> Rows:
    """Return the rows of *records* for *task*, without those that OpenAI would cut."""
    with TemporaryDirectory(prefix="piiloom-") as folder:
        path = Path(folder) / f"rows{task.format.suffix}"
        loss = task.format.write(records, path, WriteOptions(taxonomy=taxonomy, markers=markers))
        written = path if task.file is None else path / task.file
        lines: list[bytes] = []
        left_out: list[tuple[int, str]] = []
        tokens = most = 0
        for number, line in enumerate(_lines(written), start=1):
            size, messages = _size(line)
            extra = messages * _TOKENS_A_MESSAGE + _TOKENS_AN_EXAMPLE
            usual = math.ceil(size / BYTES_A_TOKEN) + extra
            if usual > MOST_TOKENS:
                left_out.append((number, TOO_LONG))
                continue
            lines.append(line)
            tokens += usual
            most += min(MOST_TOKENS, math.ceil(size / FEWEST_BYTES_A_TOKEN) + extra)
    return Rows(lines=lines, tokens=tokens, most_tokens=most, left_out=left_out, loss=loss)


def texts_in(path: Path) -> Iterator[str]:
    """Yield what users and assistants say in a file of rows; not the instructions, which are no secret."""
    for line in _lines(path):
        yield from (str(message["content"]) for message in json.loads(line)["messages"] if message["role"] != "system")


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as fh:
        yield from (line for line in fh if line.strip())


def _size(line: bytes) -> tuple[int, int]:
    """Return the bytes of all contents of a row, and the number of its messages."""
    row: Json = json.loads(line)
    messages = row["messages"]
    assert isinstance(messages, list)  # noqa: S101 - we wrote it
    return sum(len(message["content"].encode()) for message in messages), len(messages)
