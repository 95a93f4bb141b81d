"""The commands of docs/servers.md, each asked of a stand-in that takes what the vendor documents: address, key, query, formats."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from piiloom.providers.factory import make_provider
from piiloom.providers.format_probe import probe_formats
from tests.providers.provider_calls import DATA, make_call, run

PAGE = Path(__file__).parents[2] / "docs" / "servers.md"
KEY = "key-of-a-vendor-0123456789"
SCHEMAS, OBJECTS = ("json_schema", "text"), ("json_object", "text")


class Vendor(NamedTuple):
    """A vendor's documentation: the address of its chat completions, the header of the key, formats, and fields that it refuses."""

    url: str
    header: str = "Bearer"
    formats: Sequence[str] = ("json_schema", "json_object", "text")
    refused: Sequence[str] = ()
    parts: bool = False


VENDORS = (
    Vendor("https://NAME.openai.azure.com/openai/v1/chat/completions", refused=["max_tokens"]),
    Vendor("https://NAME.openai.azure.com/openai/deployments/DEPLOYMENT/chat/completions?api-version=2024-10-21", header="api-key"),
    Vendor("https://openrouter.ai/api/v1/chat/completions"),
    Vendor("https://api.groq.com/openai/v1/chat/completions", formats=OBJECTS),
    Vendor("https://api.mistral.ai/v1/chat/completions", refused=["seed"], parts=True),
    Vendor("https://api.deepseek.com/v1/chat/completions", formats=OBJECTS),
    Vendor("https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", refused=["seed"]),
    Vendor("http://localhost:8000/v1/chat/completions"),
    Vendor("http://localhost:11434/v1/chat/completions"),
    Vendor("http://localhost:1234/v1/chat/completions", formats=SCHEMAS),
    Vendor("http://localhost:8080/v1/chat/completions"),
)


def commands() -> list[Mapping[str, str]]:
    """The options of each ``generate`` of the page."""
    lines = [line.removeprefix("$ ") for line in PAGE.read_text().splitlines() if line.startswith("$ piiloom generate")]
    words = [shlex.split(line) for line in lines]
    return [{name: line[line.index(name) + 1] for name in ("--provider", "--base-url", "--model")} for line in words]


def answered(vendor: Vendor, request: httpx2.Request, model: str) -> httpx2.Response:
    sent: dict[str, Any] = json.loads(request.content)
    keys = {"Bearer": request.headers.get("authorization"), "api-key": request.headers.get("api-key")}
    if str(request.url).casefold() != vendor.url.casefold():
        return httpx2.Response(404, json={"error": {"message": "Resource not found"}})
    if keys != {name: {"Bearer": f"Bearer {KEY}", "api-key": KEY}[name] if name == vendor.header else None for name in keys}:
        return httpx2.Response(401, json={"error": {"message": f"keys: {sorted(name for name in keys if keys[name])}"}})
    kind = sent.get("response_format", {}).get("type", "text")
    refused = [name for name in vendor.refused if name in sent]
    known = {"model", "messages", "response_format", "max_tokens", "max_completion_tokens", "seed"}
    if refused or set(sent) > known or sent["model"] != model:
        instead = " Use 'max_completion_tokens' instead." if refused == ["max_tokens"] else ""
        return httpx2.Response(400, json={"error": {"message": f"Unsupported parameter: '{' '.join(refused)}'.{instead}"}})
    if kind not in vendor.formats:
        return httpx2.Response(400, json={"error": {"message": f"'response_format.type' must be one of {vendor.formats}"}})
    if kind == "json_object" and "json" not in str(sent["messages"]).casefold():
        return httpx2.Response(400, json={"error": {"message": "Prompt must contain the word 'json' to use response_format json_object"}})
    text = json.dumps({"capital": "Paris"} if "France" in str(sent["messages"]) else DATA)
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    message = {"role": "assistant", "content": [thought, {"type": "text", "text": text}] if vendor.parts else text}
    return httpx2.Response(200, json={"model": model, "choices": [{"message": message, "finish_reason": "stop"}]})


@pytest.mark.parametrize(("vendor", "options"), list(zip(VENDORS, commands(), strict=True)), ids=lambda given: getattr(given, "url", ""))
def test_the_command_of_the_page_reaches_the_vendor(vendor, options, monkeypatch):
    monkeypatch.setenv("PIILOOM_COMPATIBLE_API_KEY", KEY)
    model = options["--model"]
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(lambda request: answered(vendor, request, model)))
    provider = make_provider(options["--provider"], model=model, base_url=options["--base-url"], http_client=client)

    async def work() -> Any:
        try:
            report = await probe_formats(provider)
            return report, await provider.complete(make_call(seed=7))
        finally:
            await provider.aclose()

    report, completion = run(work())
    assert report.chosen is not None
    assert report.chosen.kind == vendor.formats[0]
    assert completion.data == DATA
