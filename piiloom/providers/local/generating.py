"""Replies to a batch of prompts, by greedy decoding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

from piiloom.foundation.noop import noop
from piiloom.providers.local.libraries import library, out_of_memory
from piiloom.providers.local.loading import LoadedModel


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


class Generator:
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
