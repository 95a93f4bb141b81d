"""Alpaca JSONL for instruction tuning: ``{"instruction", "input", "output"}``; ``output`` is a JSON list of all mentions.

``piiloom.corpus.formats.mention_list_format`` has what the three hold. Files of others are read, too, if their ``output`` is such a list;
the whole ``input`` is then the text, unless it has our layout.
"""

from __future__ import annotations

from piiloom.corpus.formats.base import Json, ReadTally
from piiloom.corpus.formats.mention_list_format import MentionListFormat
from piiloom.corpus.formats.native_rows import RowFault

_KEYS = ("instruction", "input", "output")


class AlpacaFormat(MentionListFormat):
    """The Alpaca format; see the module docstring."""

    name = "alpaca"

    def row_of(self, instruction: str, asked: str, answer: str) -> Json:
        """See ``MentionListFormat``."""
        return dict(zip(_KEYS, (instruction, asked, answer), strict=True))

    def texts_in(self, row: Json, tally: ReadTally) -> tuple[str, str]:
        """See ``MentionListFormat``."""
        tally.ignored_fields.update(key for key in row if key not in _KEYS)
        asked, answer = row.get("input"), row.get("output")
        if not isinstance(asked, str):
            raise RowFault("input: not a text")
        if not isinstance(answer, str):
            raise RowFault("output: not a text")
        return asked, answer
