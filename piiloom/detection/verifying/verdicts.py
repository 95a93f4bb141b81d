"""Read a verifier's answer: T or F, alone or with a reasoning."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from piiloom.execution.calls import Fault
from piiloom.foundation.lenient_json import read_leniently

_TRUE: Final = frozenset(("t", "true", "right", "yes", "correct"))
_FALSE: Final = frozenset(("f", "false", "wrong", "no", "incorrect"))
_AT_THE_END: Final = re.compile(
    r"\b(?:(?:so|the|my|final)\s+)*(?:answer|verdict)\W{0,12}(?:is\W{1,4})?(T|F|true|false)\b[\W_]*\Z",
    re.IGNORECASE,
)
_SIGNS: Final = " \t\r\n\"'`*_.,;:!()[]{}<>"
_ANSWER: Final = ("answer", "verdict", "label", "result")
_REASONING: Final = ("reasoning", "reason", "explanation", "rationale")
_WANTED: Final = {False: "answer with one letter: T or F", True: 'answer with a JSON object: {"reasoning": "…", "answer": "T"} or "F"'}


class VerifierVerdict(NamedTuple):
    """Whether a finding is right, and why."""

    right: bool
    reasoning: str = ""


def read_verdict(reply: str, *, reasoned: bool) -> VerifierVerdict:
    """Return what *reply* says. Raises ``Fault`` if that is neither T nor F.

    Read are the letter, also as a word and with signs around it, an object with an answer, and prose that ends with "answer: T".
    """
    for said in reversed(read_leniently(reply).values):
        if isinstance(said, dict):
            right = _truth(_first(said, _ANSWER))
            if right is not None:
                reasoning = _first(said, _REASONING)
                return VerifierVerdict(right, reasoning.strip() if isinstance(reasoning, str) else "")
    right = _truth(reply)
    if right is not None:
        return VerifierVerdict(right)
    found = _AT_THE_END.search(reply)
    if found is None:
        raise Fault("no_verdict", _WANTED[reasoned])
    return VerifierVerdict(found.group(1).lower().startswith("t"), reply[: found.start()].strip(_SIGNS[:4]))


def _truth(said: Any) -> bool | None:
    word = said.strip(_SIGNS).lower() if isinstance(said, str) else str(said).lower() if isinstance(said, bool) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def _first(said: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((said[name] for name in names if name in said), None)
