"""Bespoke Curator: `curator.LLM` with a response format, its own cache folder, all retries on."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any, Literal

from jinja2 import Template
from pydantic import BaseModel, ConfigDict, Field

TITLE = "Bespoke Curator"
PACKAGE = "bespokelabs-curator"
REQUIREMENTS = ("bespokelabs-curator==0.1.31",)


class Reply(BaseModel):
    """The schema, as Curator takes it."""

    model_config = ConfigDict(extra="forbid")
    case: str = Field(pattern="^case-[0-9]{6}$")
    title: str = Field(min_length=1, max_length=120)
    sentences: list[str] = Field(min_length=2, max_length=4)
    mood: Literal["calm", "worried", "angry", "hopeful"]
    confidence: float = Field(ge=0, le=1)


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Write the replies to ``rows``."""
    _set_up(Path(spec["state"]))
    from bespokelabs import curator  # reads the environment when imported

    template = Template(spec["template"])

    class Writer(curator.LLM):
        """The prompt and what is kept of the reply."""

        response_format = Reply

        def prompt(self, input: dict[str, Any]) -> list[dict[str, str]]:  # noqa: A002 - Curator names it so
            """Render the template."""
            return [{"role": "system", "content": spec["system"]}, {"role": "user", "content": template.render(input)}]

        def parse(self, input: dict[str, Any], response: Reply) -> dict[str, Any]:  # noqa: A002, ARG002 - as above; it gives both
            """Keep the reply."""
            return response.model_dump()

    items = [json.loads(line) for line in Path(spec["items"]).read_text().splitlines()]
    writer = Writer(
        model_name=spec["model"],
        backend="openai",
        response_format=Reply,
        generation_params={"max_tokens": spec["max_tokens"]},
        backend_params={
            "base_url": spec["base_url"],
            "max_concurrent_requests": spec["concurrency"],
            "max_requests_per_minute": 1_000_000,
            "max_tokens_per_minute": 1_000_000_000,
        },
    )
    rows = list(writer(items).dataset)
    Path(spec["rows"]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {}


def _set_up(state: Path) -> None:
    os.environ.update(OPENAI_API_KEY="bench", CURATOR_CACHE_DIR=str(state), TELEMETRY_ENABLED="false", CURATOR_DISABLE_RICH_DISPLAY="1")
    # Curator counts tokens with a vocabulary that it would download; litellm, which it depends on, brings a copy.
    found = importlib.util.find_spec("litellm")
    assert found is not None
    assert found.submodule_search_locations
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(found.submodule_search_locations[0], "litellm_core_utils", "tokenizers"))
