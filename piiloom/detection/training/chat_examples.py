"""Records as examples for a language model: the rows that ``piiloom export`` writes, as tokens, with the loss on the answer only.

A detector asks with the same instruction and the same layout (``piiloom.corpus.formats.instruction_tuning``), and the same code makes the
tokens (``piiloom.providers.local.loading``), so a trained model is asked just what it has learnt.

An example of more tokens than fit is left out and counted: cut, it would teach answers whose text the model does not see.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Final

from piiloom.corpus.formats.base import Format, LossReport, WriteOptions
from piiloom.corpus.formats.capid import CapidAlpacaFormat
from piiloom.corpus.formats.instruction_tuning import ChatFormat, OpenAIFineTuningFormat, chat_row
from piiloom.corpus.formats.verifier import FILES, VerifierFormat
from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.record import Record
from piiloom.detection.families import CAPID, MARKERS
from piiloom.detection.training.training_options import CAPID_ALPACA, VERIFIER_1, VERIFIER_2
from piiloom.foundation.errors import DataError
from piiloom.providers.local.loading import PromptLayout
from piiloom.providers.protocol import Message
from piiloom.taxonomy.entity_types import Taxonomy

NO_LOSS: Final = -100  # the label of a token that is not learnt, in transformers

# The format, and of one that is a folder the file.
_FORMATS: Final[Mapping[str, tuple[Format, str]]] = MappingProxyType(
    {
        CAPID: (ChatFormat(), ""),
        CAPID_ALPACA: (CapidAlpacaFormat(), ""),
        MARKERS: (OpenAIFineTuningFormat(), ""),
        VERIFIER_1: (VerifierFormat(), FILES[0]),
        VERIFIER_2: (VerifierFormat(), FILES[1]),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExample:
    """The tokens of prompt and answer; ``prompt`` of them are the prompt's."""

    tokens: tuple[int, ...]
    prompt: int

    @property
    def row(self) -> dict[str, list[int]]:
        """What a trainer takes."""
        return {"input_ids": list(self.tokens), "labels": [NO_LOSS] * self.prompt + list(self.tokens[self.prompt :])}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenExamples:
    """The examples of one split. ``left_out`` were too long, the longest with ``longest`` tokens."""

    kept: tuple[TokenExample, ...]
    left_out: int = 0
    longest: int = 0


def chat_rows(records: Sequence[Record], task: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> Iterator[list[dict[str, str]]]:
    """Yield the conversations in which *records* teach *task*: what ``piiloom export`` writes, which a file in between makes sure."""
    for line in written_rows(records, task, taxonomy, markers)[0]:
        row: Any = json.loads(line)
        if task == CAPID_ALPACA:
            row = chat_row(*row.values())
        yield row["messages"]


def written_rows(records: Sequence[Record], task: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES) -> tuple[list[bytes], LossReport]:
    """Return the lines that ``piiloom export`` writes of *records* for *task*, and what its format cannot express."""
    file_format, file_name = _FORMATS[task]
    with TemporaryDirectory(prefix="piiloom-") as folder:
        written = Path(folder) / "rows"
        loss = file_format.write(records, written, WriteOptions(taxonomy=taxonomy, markers=markers))
        with (written / file_name if file_name else written).open("rb") as rows:
            return [line for line in rows if line.strip()], loss


def examples_of(
    records: Sequence[Record], task: str, taxonomy: Taxonomy, layout: PromptLayout, most: int, markers: MarkerSet = TYPES
) -> TokenExamples:
    """Return the examples of *records* that have at most *most* tokens."""
    kept: list[TokenExample] = []
    left_out = longest = 0
    for messages in chat_rows(records, task, taxonomy, markers):
        one = example_of(messages, layout)
        longest = max(longest, len(one.tokens))
        if len(one.tokens) <= most:
            kept.append(one)
        else:
            left_out += 1
    return TokenExamples(kept=tuple(kept), left_out=left_out, longest=longest)


def example_of(messages: Sequence[dict[str, Any]], layout: PromptLayout) -> TokenExample:
    """Return the tokens of a conversation that ends with the answer."""
    *asked, answer = messages
    prompt = layout.prompt([Message(role=one["role"], content=one["content"]) for one in asked])
    return TokenExample(tokens=(*prompt, *layout.answer(answer["content"])), prompt=len(prompt))


def check_enough(examples: TokenExamples, most: int, task: str) -> None:
    """Raise ``DataError`` if no example is left to train on."""
    if examples.kept:
        return
    if examples.left_out:
        problem = f"all {examples.left_out:,} examples have more than {most:,} tokens (the longest {examples.longest:,})"
        raise DataError(problem, where="--max-tokens", remedy="Raise it, or use a model with a longer context")
    raise DataError(f"the records give no example for the task {task!r}", where="--task", remedy="Train on records with spans")
