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
from typing import Any, Final

from piiloom.foundation.errors import ProviderError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.torch_devices import chosen_device
from piiloom.providers.errors import InvalidRequest, ProviderUnavailable, Truncated
from piiloom.providers.local.loading import LoadedModel, PromptLayout, library, load_model, open_folder, out_of_memory
from piiloom.providers.prices import FREE
from piiloom.providers.protocol import Completion, Message, PromptCall, TokenUsage
from piiloom.providers.replies import schema_instruction, with_data


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A prompt's tokens, and how many tokens its answer may have at most."""

    prompt: Sequence[int]
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer: its text, the number of its tokens, and whether it was cut at the limit. ``text`` None: there was no memory for it."""

    text: str | None
    tokens: int = 0
    cut: bool = False


class LocalGenerator:
    """Answers prompts with *loaded*, at most ``batch_size`` at once. To be used from one thread.

    If the memory of a GPU is not enough, ``batch_size`` is halved for good, and *tell* is told; a prompt that does not fit even
    alone has no answer. *stop* ends what is under way; the answers are then cut.
    """

    def __init__(self, loaded: LoadedModel, *, batch_size: int, stop: Event, tell: Callable[[str], object] = noop) -> None:
        self._loaded, self._stop, self._tell = loaded, stop, tell
        self.batch_size = batch_size

    def answer(self, asked: Sequence[Asked]) -> list[Answered]:
        """Return the answers to *asked*, in their order."""
        # Prompts of like length share a batch: the shorter ones are padded to the longest.
        order = sorted(range(len(asked)), key=lambda at: len(asked[at].prompt), reverse=True)
        answers: dict[int, Answered] = {}
        while len(answers) < len(asked):
            chosen = order[len(answers) : len(answers) + self.batch_size]
            found = self._attempt([asked[at] for at in chosen])
            if found is not None:
                answers.update(zip(chosen, found, strict=True))
            elif len(chosen) > 1:
                self.batch_size = max(1, len(chosen) // 2)
                self._tell(f"the GPU's memory is not enough for {len(chosen)} prompts at once: {self.batch_size} from now on")
            else:
                answers[chosen[0]] = Answered(text=None)
        return [answers[at] for at in range(len(asked))]

    def _attempt(self, asked: Sequence[Asked]) -> list[Answered] | None:
        """Return the answers; None if there was not enough memory."""
        torch = library("torch")
        try:
            return self._generate(torch, asked)
        except Exception as error:
            if not out_of_memory(error):
                raise
        # What the exception held on to is free only here, behind its block.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return None

    def _generate(self, torch: Any, asked: Sequence[Asked]) -> list[Answered]:
        loaded = self._loaded
        longest, pad = max(len(one.prompt) for one in asked), loaded.tokenizer.pad_token_id
        padding = [longest - len(one.prompt) for one in asked]
        ids = [[pad] * missing + list(one.prompt) for one, missing in zip(asked, padding, strict=True)]
        mask = [[0] * missing + [1] * len(one.prompt) for one, missing in zip(asked, padding, strict=True)]
        limits = torch.tensor([one.limit for one in asked], device=loaded.device)
        with torch.inference_mode():
            whole = loaded.model.generate(
                input_ids=torch.tensor(ids, device=loaded.device),
                attention_mask=torch.tensor(mask, device=loaded.device),
                max_new_tokens=max(one.limit for one in asked),
                stopping_criteria=[self._stopping(torch, longest, limits)],
            )
        return [self._read(row[longest:], one.limit) for row, one in zip(whole.tolist(), asked, strict=True)]

    def _stopping(self, torch: Any, begin: int, limits: Any) -> Callable[..., Any]:
        """Return what ends each answer of a batch at its own limit."""

        def ended(ids: Any, _scores: Any, **_: Any) -> Any:
            return torch.full_like(limits, True, dtype=torch.bool) if self._stop.is_set() else ids.shape[1] - begin >= limits

        return ended

    def _read(self, tokens: Sequence[int], limit: int) -> Answered:
        ends = set(self._loaded.model.generation_config.eos_token_id)
        own: list[int] = []
        for token in tokens[:limit]:
            if token in ends:
                return Answered(text=self._loaded.layout.read(own), tokens=len(own) + 1)
            own.append(token)
        return Answered(text=self._loaded.layout.read(own), tokens=len(own), cut=True)


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
        self._generator: LocalGenerator | None = None
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

    def _loaded(self) -> tuple[LocalGenerator, PromptLayout]:
        if self._generator is None or self._layout is None:
            loaded = load_model(self._folder, device=self._options.device, alpaca=self._options.alpaca)
            self._layout = loaded.layout
            self._generator = LocalGenerator(loaded, batch_size=self._options.batch_size, stop=self._stop, tell=self._options.tell)
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
