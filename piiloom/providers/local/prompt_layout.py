"""How messages become tokens, the same for asking a local model and for training it.

The prompt is what the tokenizer's chat template makes of the messages, with the opening of the model's turn. A template that takes no
message of the system gets it at the head of the user's message, with a blank line between. A tokenizer without a template gets
``FALLBACK``, the layout of Alpaca, and so does any tokenizer where that is asked for. An instruction that has the heading
itself, as one with words before it, is taken as it is.

The answer's tokens are made by themselves and follow those of the prompt. So a prompt has the same tokens whether an answer
follows (training) or not (asking), whatever the white space at their seam; taken together, tokens could join across it.

White space at the end of a message is left out: the templates that prompts are made of leave it out, and so do most chat templates.
An export has it, and a model is to be asked what it has learnt.

Texts may have what looks like a special token (``<|im_end|>``). In a message it is tokenized as the characters it consists of, so no
text can end a turn or open one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from piiloom.foundation.errors import UsageError
from piiloom.providers.protocol import Message

_HEADING: Final = "### Instruction:\n"
_HEADED: Final = "headed"  # the role of an instruction with its heading
FALLBACK: Final = {
    "system": f"{_HEADING}{{}}\n\n",
    _HEADED: "{}\n\n",
    "user": "### Input:\n{}\n\n",
    "assistant": "### Response:\n{}\n\n",
}
FALLBACK_OPENING: Final = "### Response:\n"
# Stand-ins for contents while a template is rendered; letters only, so that no template trims, escapes or splits them.
_SENTINEL: Final = "piiloomcontent{}end"


class PromptLayout:
    """The layout for *tokenizer* (of transformers): that of its chat template, or that of Alpaca if *alpaca*.

    Raises ``UsageError`` if the chat template cannot be used.
    """

    def __init__(self, tokenizer: Any, *, alpaca: bool = False) -> None:
        self._tokenizer, self.alpaca = tokenizer, alpaca
        self._special = sorted({str(token) for token in tokenizer.get_added_vocab()} | set(tokenizer.all_special_tokens), key=len)
        self._joins_system = self.has_template and not self._takes_system()
        self._end = self._end_of_turn()

    @property
    def has_template(self) -> bool:
        """Whether the layout is that of the tokenizer's chat template."""
        return bool(self._tokenizer.chat_template) and not self.alpaca

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Return the tokens of *messages* and of the opening of the model's turn."""
        given: list[tuple[str, str]] = [(message.role, message.content.rstrip()) for message in messages]
        if self._joins_system:
            given = _with_system_joined(given)
        if not self.has_template:
            given = [(_HEADED if role == "system" and _HEADING in content else role, content) for role, content in given]
        if any(self._looks_special(content) for _, content in given):
            return self._in_parts(given)
        return self._opening(self._rendered(given, opened=True))

    def answer(self, text: str) -> list[int]:
        """Return the tokens of an answer, with the one that ends the turn."""
        return [*self._content(text), self._end]

    def end_tokens(self) -> list[int]:
        """The tokens at which an answer ends: that of the layout, and the tokenizer's own."""
        return sorted({self._end, *([] if self._tokenizer.eos_token_id is None else [int(self._tokenizer.eos_token_id)])})

    def read(self, tokens: Sequence[int]) -> str:
        """Return the text of an answer's *tokens*."""
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _content(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, split_special_tokens=True, **_PLAIN)["input_ids"])

    def _looks_special(self, text: str) -> bool:
        return any(token in text for token in self._special)

    def _in_parts(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """Tokenize what the template adds and the contents apart, so that contents have no special tokens."""
        marks = [_SENTINEL.format(number) for number in range(len(messages))]
        rest = self._rendered([(role, mark) for (role, _), mark in zip(messages, marks, strict=True)], opened=True)
        tokens: list[int] = []
        for number, ((_, content), mark) in enumerate(zip(messages, marks, strict=True)):
            before, found, rest = rest.partition(mark)
            if not found:
                raise UsageError("the chat template does not give the messages in their order", remedy="Use another base model")
            tokens += [*(self._tokens(before) if number else self._opening(before)), *self._content(content)]
        return tokens + self._tokens(rest)

    def _opening(self, text: str) -> list[int]:
        """Tokenize the beginning of a prompt: a template writes the token that begins a text itself, ``FALLBACK`` does not."""
        if self.has_template:
            return self._tokens(text)
        tokens = list(self._tokenizer(text, add_special_tokens=True, **_PLAIN)["input_ids"])
        return tokens[:-1] if tokens and tokens[-1] == self._tokenizer.eos_token_id else tokens

    def _tokens(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, **_PLAIN)["input_ids"])

    def _rendered(self, messages: Sequence[tuple[str, str]], *, opened: bool) -> str:
        if not self.has_template:
            return "".join(FALLBACK[role].format(content) for role, content in messages) + (FALLBACK_OPENING if opened else "")
        turns = [{"role": role, "content": content} for role, content in messages]
        # Models that think before they answer are asked not to: nothing in a release shows them how.
        return str(self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=opened, enable_thinking=False))

    def _takes_system(self) -> bool:
        """Whether the template renders a message of the system. Raises ``UsageError`` if it renders not even one of the user."""
        try:
            self._rendered([("user", "two")], opened=True)
        except Exception as error:
            raise UsageError("the tokenizer's chat template cannot be used", remedy="Use another base model") from error
        try:
            return "one" in self._rendered([("system", "one"), ("user", "two")], opened=True)
        except Exception:  # noqa: BLE001 - templates raise what they like for a role that they don't know
            return False

    def _end_of_turn(self) -> int:
        """Return the token that ends an answer: the special one that the template has behind it, or else the tokenizer's end."""
        if self.has_template:
            mark = _SENTINEL.format("")
            text = self._rendered([("user", "two"), ("assistant", mark)], opened=False)
            behind = self._tokens(text.partition(mark)[2].lstrip())
            if behind and int(behind[0]) in self._special_ids():
                return int(behind[0])
        if self._tokenizer.eos_token_id is None:
            raise UsageError("the tokenizer has no token that ends a text", remedy="Use another base model")
        return int(self._tokenizer.eos_token_id)

    def _special_ids(self) -> set[int]:
        return {int(number) for number in self._tokenizer.get_added_vocab().values()} | set(self._tokenizer.all_special_ids)


_PLAIN: Final = {"truncation": False, "padding": False, "verbose": False}


def _with_system_joined(messages: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    system = "\n\n".join(content for role, content in messages if role == "system")
    rest = [(role, content) for role, content in messages if role != "system"]
    if system and rest:
        rest[0] = (rest[0][0], f"{system}\n\n{rest[0][1]}")
    return rest
