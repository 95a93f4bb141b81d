"""How chat completion servers take ``response_format``: each as it has been seen to answer (issues of their projects, 2024-2026)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from tests.fakes.llm_wire import BadCall

Wanted = Mapping[str, Any] | None
# What a server makes of a wanted format; ``BadCall`` where it refuses.
Manner = Callable[[Wanted], Literal["kept", "ignored"]]


def llama_cpp(wanted: Wanted) -> Literal["kept", "ignored"]:
    """llama.cpp up to late 2024, and forks of it: a 500 for json_schema; a schema beside json_object is kept to."""
    if wanted and wanted["type"] not in {"text", "json_object"}:
        said = f'response_format type must be one of "text" or "json_object", but got: {wanted["type"]}'
        raise BadCall(500, "server_error", said)
    return "kept" if wanted and "schema" in wanted else "ignored"


def silent_llama(wanted: Wanted) -> Literal["kept", "ignored"]:
    """The same behind a gateway that hides what was said."""
    try:
        return llama_cpp(wanted)
    except BadCall:
        raise BadCall(500, "server_error", "Internal Server Error") from None


def vllm(wanted: Wanted) -> Literal["kept", "ignored"]:
    """vLLM: both are enforced; a schema beside json_object is passed over."""
    return "kept" if wanted else "ignored"


def ollama(wanted: Wanted) -> Literal["kept", "ignored"]:
    """Ollama since 0.5: json_schema is enforced."""
    return "kept" if wanted and wanted["type"] == "json_schema" else "ignored"


def lm_studio(wanted: Wanted) -> Literal["kept", "ignored"]:
    """LM Studio: json_schema or text, nothing else."""
    if wanted and wanted["type"] not in {"json_schema", "text"}:
        raise BadCall(400, "invalid_request_error", "'response_format.type' must be 'json_schema' or 'text'")
    return "kept" if wanted and wanted["type"] == "json_schema" else "ignored"


def strict_objects(wanted: Wanted) -> Literal["kept", "ignored"]:
    """Servers with json_object alone, which refuse what they don't know beside it."""
    if wanted and (wanted["type"] != "json_object" or "schema" in wanted):
        raise BadCall(422, "invalid_request_error", "response_format: Extra inputs are not permitted")
    return "kept" if wanted else "ignored"


def text_gateway(wanted: Wanted) -> Literal["kept", "ignored"]:
    """A gateway that passes text on and nothing else."""
    if wanted:
        raise BadCall(404, "not_found_error", "response_format is not available on this route")
    return "ignored"


def not_implemented(wanted: Wanted) -> Literal["kept", "ignored"]:
    """501, as a status for what a server has not built."""
    if wanted and wanted["type"] == "json_schema":
        raise BadCall(501, "not_supported_error", "json_schema is not implemented")
    return "kept" if wanted else "ignored"


def careless(wanted: Wanted) -> Literal["kept", "ignored"]:
    """Servers that accept whatever is wanted and answer as they like."""
    return "ignored"
