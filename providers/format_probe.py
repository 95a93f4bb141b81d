"""Which ``response_format`` a compatible server takes, asked with tiny calls before a run.

The question is one that nobody answers in JSON unless made to, so a server that accepts a format and does not keep to it is
noticed. A 500 counts as a refusal only if another format is answered and the same request fails again after that; a server that
fails whatever it is asked, or says nothing about formats (a refused key, too many requests, a time-out), is not judged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from piiloom.foundation.errors import ProviderError
from piiloom.providers.protocol import Message, PromptCall, SamplingSettings
from piiloom.providers.replies import BadReply, read_reply

if TYPE_CHECKING:
    from piiloom.providers.chat_dialects import Dialect, FormatKind
    from piiloom.providers.compatible_api import CompatibleProvider, FormatTrial

QUESTION: Final = "Which city is the capital of France?"
SCHEMA: Final = {
    "type": "object",
    "properties": {"capital": {"type": "string"}},
    "required": ["capital"],
    "additionalProperties": False,
}
# Models that think before they speak need some room; others use a dozen tokens.
_LIMIT: Final = 512
_AGAIN_S: Final = 0.25
_FORMATS: Final[tuple[FormatKind, ...]] = ("json_schema", "json_object", "plain")
_NAMES: Final[dict[FormatKind, str]] = {
    "json_schema": "json_schema",
    "json_object": "json_object with a schema",
    "json_object_bare": "json_object",
    "plain": "text",
}
# These say nothing about a format: key, money, time, too many requests, overload.
_OTHER_REASONS: Final = frozenset({401, 402, 403, 408, 409, 425, 429, 503, 529})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatFinding:
    """What one format came to. ``refused`` has a ``status``; ``ignored`` was accepted, but the reply was no JSON of the schema."""

    kind: FormatKind
    outcome: Literal["kept", "ignored", "refused", "unclear"]
    status: int | None = None
    dialect: Dialect | None = None

    def __str__(self) -> str:
        said = {"kept": "yes", "ignored": "accepted but not kept to", "refused": f"refused ({self.status})", "unclear": "unclear"}
        unclear = f" ({self.status})" if self.outcome == "unclear" and self.status else ""
        return f"{_NAMES[self.kind]} {said[self.outcome]}{unclear}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatReport:
    """All findings in the order of asking, and the one that a run is to use; None where the server could not be judged."""

    findings: Sequence[FormatFinding]
    chosen: FormatFinding | None

    def __str__(self) -> str:
        found = "; ".join(map(str, self.findings))
        return f"{found}: --response-format auto takes {_NAMES[self.chosen.kind]}" if self.chosen else f"{found}: could not be told"


async def probe_formats(provider: CompatibleProvider, *, every: bool = False) -> FormatReport:
    """Find what the server takes and have *provider* use it; the first format that is kept to ends the search, unless *every*."""
    findings: list[FormatFinding] = []
    for kind in _FORMATS:
        found = await _find(provider, kind)
        findings.append(found)
        if found.outcome == "unclear" and found.status in {None, *_OTHER_REASONS}:
            break
        if found.outcome == "kept" and not every:
            break
    chosen = next((found for found in findings if found.outcome == "kept"), None)
    last = findings[-1]
    # A text in words is all that is left of a server that keeps to nothing: the schema stands in the prompt.
    chosen = chosen or (last if last.kind == "plain" and last.outcome == "ignored" else None)
    if chosen is not None:
        findings, chosen = await _settled(provider, findings, chosen)
        if chosen.dialect is not None:
            provider.adopt(chosen.dialect)
    return FormatReport(findings=findings, chosen=chosen)


async def _settled(
    provider: CompatibleProvider, findings: list[FormatFinding], chosen: FormatFinding
) -> tuple[list[FormatFinding], FormatFinding]:
    """Ask again what came back with a server error: now that another format is answered, it is a refusal or it has passed."""
    for place, found in enumerate(findings):
        if found.outcome != "unclear" or found.status is None:
            continue
        again = await _find(provider, found.kind)
        refused = FormatFinding(kind=found.kind, outcome="refused", status=again.status)
        findings[place] = refused if again.outcome == "unclear" and again.status is not None else again
        if again.outcome == "kept" and place < findings.index(chosen):
            return findings, again
    return findings, chosen


async def _find(provider: CompatibleProvider, kind: FormatKind) -> FormatFinding:
    try:
        trial = await provider.try_format(kind, probe_call())
        if trial.status is not None and trial.status >= 500 and trial.status not in _OTHER_REASONS:
            await asyncio.sleep(_AGAIN_S)
            trial = await provider.try_format(kind, probe_call())
    except ProviderError:
        return FormatFinding(kind=kind, outcome="unclear")
    return _judged(trial)


def _judged(trial: FormatTrial) -> FormatFinding:
    if trial.reply is None:
        unclear = trial.status is None or trial.status >= 500 or trial.status in _OTHER_REASONS
        return FormatFinding(kind=trial.kind, outcome="unclear" if unclear else "refused", status=trial.status)
    kept = True
    if trial.reply.outcome != "truncated":  # a model that thought to the end of its room says nothing about the format
        try:
            read_reply(trial.reply.text, SCHEMA)
        except BadReply:
            kept = False
    return FormatFinding(kind=trial.kind, outcome="kept" if kept else "ignored", dialect=trial.dialect)


def probe_call() -> PromptCall:
    """The call that is sent: about 60 tokens in, a dozen out."""
    return PromptCall(
        stage="probe",
        template="format_probe",
        variables={},
        render=lambda: [Message(role="user", content=QUESTION)],
        schema_name="format_probe",
        schema=SCHEMA,
        item_id="format-probe",
        settings=SamplingSettings(max_output_tokens=_LIMIT),
    )
