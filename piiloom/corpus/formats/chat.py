"""Chat JSONL for fine-tuning: ``{"messages": [system, user, assistant]}``; the assistant's message is a JSON list of all mentions.

The system's message is the instruction, the user's has question and text (``piiloom.corpus.formats.mention_list_format``). These are
the texts of ``alpaca`` in the conversational form that TRL's ``SFTTrainer`` and most other trainers take.
"""

from __future__ import annotations

from piiloom.corpus.formats.base import Json, ReadTally
from piiloom.corpus.formats.chat_rows import chat_row, read_chat
from piiloom.corpus.formats.mention_list_format import MentionListFormat


class ChatFormat(MentionListFormat):
    """The chat format; see the module docstring."""

    name = "chat"

    def row_of(self, instruction: str, asked: str, answer: str) -> Json:
        """See ``MentionListFormat``."""
        return chat_row(instruction, asked, answer)

    def texts_in(self, row: Json, tally: ReadTally) -> tuple[str, str]:
        """See ``MentionListFormat``."""
        return read_chat(row, tally)
