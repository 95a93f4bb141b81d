"""Find out with small calls before a run which ``response_format`` a compatible server supports.

The probe asks a question that a model does not answer in JSON unless it must, so a server that accepts a format but ignores it
is noticed. A 5xx counts as a refusal only if another format works and the same request fails again afterwards. If the server
always fails, or fails for a reason unrelated to formats (refused key, rate limit, time-out), there is no verdict.
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
    from piiloom.providers.compatible_api import CompatibleProvider, Dialect, FormatKind, FormatTrial

QUESTION: Final = "Which city is the capital of France?"
SCHEMA: Final = {
    "type": "object",
    "properties": {"capital": {"type": "string"}},
    "required": ["capital"],
    "additionalProperties": False,
}
# Output limit in tokens: enough for models that think first; others use about a dozen.
_LIMIT: Final = 512
_AGAIN_S: Final = 0.25
_FORMATS: Final[tuple[FormatKind, ...]] = ("json_schema", "json_object", "plain")
_NAMES: Final[dict[FormatKind, str]] = {
    "json_schema": "json_schema",
    "json_object": "json_object with a schema",
    "json_object_bare": "json_object",
    "plain": "text",
}
# HTTP status codes that are unrelated to the format: key, money, time-out, rate limit, overload.
_OTHER_REASONS: Final = frozenset({401, 402, 403, 408, 409, 425, 429, 503, 529})


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatFinding:
    """The outcome for one format.

    "kept": the reply matched the schema. "ignored": accepted, but the reply did not match. "refused": an error with ``status``.
    "unclear": no verdict. ``dialect`` is the request variant that got the reply.
    """

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
    """All findings in the order of the requests, and the one to use in a run; None if there is no verdict."""

    findings: Sequence[FormatFinding]
    chosen: FormatFinding | None

    def __str__(self) -> str:
        found = "; ".join(map(str, self.findings))
        return f"{found}: --response-format auto takes {_NAMES[self.chosen.kind]}" if self.chosen else f"{found}: could not be determined"


async def probe_formats(provider: CompatibleProvider, *, every: bool = False) -> FormatReport:
    """Find the formats that the server supports and make *provider* use the best one.

    The search stops at the first format that the reply keeps to, unless *every* is true.
    """
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
    # The server keeps to no format: fall back to plain text, with the schema in the prompt.
    chosen = chosen or (last if last.kind == "plain" and last.outcome == "ignored" else None)
    if chosen is not None:
        findings, chosen = await _settled(provider, findings, chosen)
        if chosen.dialect is not None:
            provider.adopt(chosen.dialect)
    return FormatReport(findings=findings, chosen=chosen)


async def _settled(
    provider: CompatibleProvider, findings: list[FormatFinding], chosen: FormatFinding
) -> tuple[list[FormatFinding], FormatFinding]:
    """Repeat the requests that got a server error, now that another format is known to work.

    If one fails again, its format is refused. If it succeeds and comes before *chosen*, it becomes the chosen one. Returns the
    updated findings (changed in place) and the chosen one.
    """
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
    if trial.reply.outcome != "truncated":  # a model that used up its tokens on thinking tells nothing about the format
        try:
            read_reply(trial.reply.text, SCHEMA)
        except BadReply:
            kept = False
    return FormatFinding(kind=trial.kind, outcome="kept" if kept else "ignored", dialect=trial.dialect)


def probe_call() -> PromptCall:
    """Return the probe's call: about 60 input tokens and a dozen output tokens."""
    return PromptCall(
        stage="probe",
        template="format_probe",
        variables={},
        render=lambda: [Message(role="system", content="You answer questions."), Message(role="user", content=QUESTION)],
        schema_name="format_probe",
        schema=SCHEMA,
        item_id="format-probe",
        settings=SamplingSettings(max_output_tokens=_LIMIT),
    )
