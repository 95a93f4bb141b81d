"""The provider "local": a causal language model from a local folder, if wanted with an adapter (``piiloom train lora``).

Calls that come while the model is busy are gathered and answered together. The model runs in a thread of its own, so that the event
loop lives. Decoding is greedy: the same prompt has the same answer, but for what batching does to the last bits of numbers.

A call without a schema, as all are that a model can be trained for, is asked as it stands. The schema of a call is put behind the
instruction, as for a server that knows no schemas; nothing forces a reply into it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.foundation.torch_devices import chosen_device
from piiloom.providers.chat_dialects import schema_instruction
from piiloom.providers.errors import InvalidRequest, ProviderUnavailable, Truncated
from piiloom.providers.local.generating import Answered, Asked, Generator
from piiloom.providers.local.libraries import library
from piiloom.providers.local.loading import load_model
from piiloom.providers.local.model_folder import open_folder
from piiloom.providers.local.prompt_layout import PromptLayout
from piiloom.providers.prices import FREE
from piiloom.providers.protocol import Completion, Message, PromptCall, TokenUsage
from piiloom.providers.replies import with_data

NAME: Final = "local"
_LEAST_ANSWER: Final = 16
_GATHERING_S: Final = 0.05  # calls that are begun together come within some commits of the journal, of 10 ms each


def tell_on_stderr(line: str) -> None:
    """Say *line* where it does not disturb what a command prints."""
    sys.stderr.write(f"\nlocal model: {line}\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """What the provider is made from. ``batch_size``: prompts at once, at most. ``tell`` is told what goes otherwise than asked.

    ``alpaca``: prompts have the layout of Alpaca, whatever the tokenizer's chat template.
    """

    base: Path
    adapter: Path | None = None
    device: str = "auto"
    batch_size: int = 16
    alpaca: bool = False
    tell: Callable[[str], object] = tell_on_stderr


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    call: PromptCall
    answer: asyncio.Future[Completion]


class LocalProvider:
    """See the module docstring. Its replies cost nothing but time, and are journaled, since that is much.

    ``endpoint`` is made of the digest of base and adapter, so that a reply of another model is never taken for one of this. Folders are
    checked at once, the model is loaded with the first call.

    Raises ``UsageError`` if a folder is not what it should be, or a library is missing.
    """

    name = NAME
    paid = True
    spec = FREE

    def __init__(self, options: LocalOptions) -> None:
        if options.batch_size < 1:
            raise UsageError("a batch has at least one prompt", where="--batch-size", remedy="Give 1 or more")
        self._options = options
        for needed in ("torch", "transformers", *(["peft"] if options.adapter is not None else [])):
            library(needed)
        chosen_device(options.device)
        self._folder = open_folder(options.base, options.adapter)
        self.model = self._folder.name
        self.endpoint = f"local:sha256:{self._folder.digest}{':alpaca' if options.alpaca else ''}"
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="local-model")
        self._stop = Event()
        self._layout: PromptLayout | None = None
        self._generator: Generator | None = None
        self._waiting: list[_Waiting] = []
        self._runner: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(model={self.model!r}, endpoint={self.endpoint!r})"

    async def complete(self, call: PromptCall) -> Completion:
        """Answer *call*, or raise one of ``piiloom.providers.errors``. Raises ``UsageError`` if the model cannot be loaded."""
        if self._stop.is_set():
            raise ProviderUnavailable("local: the model is closed")
        asked = call.settings
        if asked.temperature or asked.top_p is not None or asked.extra_body:
            raise InvalidRequest("local: decoding is greedy", remedy="Leave temperature, top_p and extra_body out")
        waiting = _Waiting(call=call, answer=asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._runner is None or self._runner.done():
            self._runner = asyncio.create_task(self._run())
        return await waiting.answer

    async def aclose(self) -> None:
        """End what is under way, and let go of the model."""
        self._stop.set()
        if self._runner is not None:
            await asyncio.wait([self._runner])
        self._threads.shutdown()
        self._generator = self._layout = None

    async def _run(self) -> None:
        """Answer what waits, a batch after the other, until nothing does."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            size = self._options.batch_size if self._generator is None else self._generator.batch_size
            if len(self._waiting) < size:
                await asyncio.sleep(_GATHERING_S)
            batch, self._waiting = self._waiting[:size], self._waiting[size:]
            batch = [one for one in batch if not one.answer.done()]  # whoever was cancelled waits no more
            try:
                outcomes = await loop.run_in_executor(self._threads, self._answers, [one.call for one in batch])
            except Exception as error:  # noqa: BLE001 - it belongs to those who wait, not to this task
                outcomes = [error] * len(batch)
            for one, outcome in zip(batch, outcomes, strict=True):
                if one.answer.done():
                    continue
                if isinstance(outcome, Completion):
                    one.answer.set_result(outcome)
                else:
                    one.answer.set_exception(outcome)

    def _answers(self, calls: Sequence[PromptCall]) -> list[Completion | Exception]:
        """Return a completion or an error for each of *calls*. Runs in the model's thread."""
        began = time.perf_counter()
        generator, layout = self._loaded()
        outcomes: list[Completion | Exception | None] = []
        asked: list[Asked] = []
        for call in calls:
            try:
                asked.append(self._asked(call, layout))
                outcomes.append(None)
            except ProviderError as error:
                outcomes.append(error)
        answers = iter(generator.answer(asked))
        prompts = iter(asked)
        latency = time.perf_counter() - began
        return [
            self._outcome(call, next(prompts), next(answers), latency) if outcome is None else outcome
            for call, outcome in zip(calls, outcomes, strict=True)
        ]

    def _loaded(self) -> tuple[Generator, PromptLayout]:
        if self._generator is None or self._layout is None:
            loaded = load_model(self._folder, device=self._options.device, alpaca=self._options.alpaca)
            self._layout = loaded.layout
            self._generator = Generator(loaded, batch_size=self._options.batch_size, stop=self._stop, tell=self._options.tell)
        return self._generator, self._layout

    def _asked(self, call: PromptCall, layout: PromptLayout) -> Asked:
        """Return the prompt of *call*. Raises ``InvalidRequest`` if the model has no room for it and an answer."""
        prompt = layout.prompt(messages_of(call))
        limit, context = call.settings.max_output_tokens, self._folder.context
        if context is not None:
            room = context - len(prompt)
            if room < min(limit, _LEAST_ANSWER):
                problem = f"local: the prompt has {len(prompt):,} tokens, and the model takes {context:,} together with its answer"
                raise InvalidRequest(problem, remedy="Cut texts into smaller pieces (--chunk), or use a model with a longer context")
            limit = min(limit, room)
        return Asked(prompt=prompt, limit=limit)

    def _outcome(self, call: PromptCall, asked: Asked, answered: Answered, latency_s: float) -> Completion | Exception:
        if self._stop.is_set() and answered.cut:
            return ProviderUnavailable("local: the model was closed before its answer was complete")
        if answered.text is None:
            problem = f"local: the GPU's memory is not enough for a prompt of {len(asked.prompt):,} tokens"
            return InvalidRequest(problem, remedy="Cut texts into smaller pieces (--chunk), or use --device cpu")
        completion = Completion(
            text=answered.text,
            data=None,
            model=self.model,
            usage=TokenUsage(input=len(asked.prompt), output=answered.tokens),
            cost_usd=0.0,
            latency_s=latency_s,
            finish_reason="length" if answered.cut else "stop",
        )
        try:
            if answered.cut:
                raise Truncated(f"local: the answer was cut at {asked.limit:,} tokens", completion=completion)
            return with_data(completion, call.schema, provider=NAME)
        except ProviderError as error:
            return error


def messages_of(call: PromptCall) -> list[Message]:
    """Return the messages of *call*, with its schema, if it has one, at the end of the instruction."""
    messages = list(call.render())
    if call.schema is None:
        return messages
    wanted = schema_instruction(call.schema_name, call.schema)
    instructions = [message.content for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    return [Message(role="system", content="\n\n".join([*instructions, wanted])), *rest]
