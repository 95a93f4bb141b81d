"""How the benchmark server behaves. Read from JSON, so that each scenario starts a server process of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

# What a fault does, and whether a provider would charge for it:
#   rate_limit   429 with Retry-After, nothing done, not billed
#   server_error 500, not billed
#   cut          the connection is reset in the middle of a 200 body: done, billed, lost
#   bad_body     a 200 whose body is not JSON (a proxy's page): billed
#   bad_content  a good 200 whose content is not the JSON that was asked for: billed
#   hang         taken on and never answered: billed, as the client cannot know better
FAULT_KINDS = ("rate_limit", "server_error", "cut", "bad_body", "bad_content", "hang")
BILLED = frozenset({"ok", "cut", "bad_body", "bad_content", "hang"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """The rules of one server process.

    ``at_once``: as many are taken, others get a 429 at once, without Retry-After. ``refused``: cases always answered
    with 400. ``rpm`` and ``tpm`` hold over every 60 seconds. ``faults`` are shares of all requests, drawn by ``seed``.
    """

    latency_s: float = 0.2
    at_once: int | None = None
    refused: tuple[str, ...] = ()
    rpm: int | None = None
    tpm: int | None = None
    faults: Mapping[str, float] = field(default_factory=dict)
    seed: int = 7
    retry_after_s: float = 1.0
    hang_s: float = 120.0

    def to_json(self) -> str:
        """For the command line of the server."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ServerSettings:
        """Read what ``to_json`` wrote; raises ``ValueError`` for unknown keys and faults."""
        data = json.loads(text)
        unknown = set(data) - set(cls.__dataclass_fields__)
        unknown |= set(data.get("faults", ())) - set(FAULT_KINDS)
        if unknown:
            raise ValueError(f"unknown server settings: {', '.join(sorted(unknown))}")
        return cls(**{**data, "refused": tuple(data.get("refused", ()))})
