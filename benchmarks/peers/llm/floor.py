"""The floor: the bare openai SDK, a semaphore and nothing else. No journal, no validation, no retries of its own."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from jinja2 import Template
from openai import AsyncOpenAI

TITLE = "bare openai SDK loop"
PACKAGE = "openai"
REQUIREMENTS = ()


async def work(spec: dict[str, Any], items: list[dict[str, Any]]) -> tuple[list[Any], list[BaseException]]:
    """Ask for all items; the replies and the errors."""
    template, gate, rows = Template(spec["template"]), asyncio.Semaphore(spec["concurrency"]), []
    async with AsyncOpenAI(base_url=spec["base_url"], api_key="bench") as client:

        async def one(item: dict[str, Any]) -> None:
            async with gate:
                reply = await client.chat.completions.create(
                    model=spec["model"],
                    messages=[{"role": "system", "content": spec["system"]}, {"role": "user", "content": template.render(item)}],
                    max_tokens=spec["max_tokens"],
                    response_format={"type": "json_object"},
                )
            rows.append(json.loads(reply.choices[0].message.content or ""))

        done = await asyncio.gather(*(one(item) for item in items), return_exceptions=True)
    return rows, [error for error in done if error is not None]


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Write the replies to ``rows``."""
    items = [json.loads(line) for line in Path(spec["items"]).read_text().splitlines()]
    rows, errors = asyncio.run(work(spec, items))
    Path(spec["rows"]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {"errors": [type(error).__name__ for error in errors]}
