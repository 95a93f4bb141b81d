"""What the server writes: OpenAI chat completions and Responses bodies, and errors in OpenAI's words."""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import Any

CASE = re.compile(rb"case-\d{6}")
_WORDS = (
    "the rota landlord clinic ledger winter ward tenancy invoice cousin permit harvest platform minister apprentice bursary "
    "because nobody replied since the merger while my notice runs out and the second letter never came through the door"
).split()
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


PROBE = "probe"


def case_of(body: bytes) -> str:
    """The case a request is about; ``PROBE`` for what a contestant asks before its work (Curator tries the model twice)."""
    found = CASE.search(body)
    return found[0].decode() if found else PROBE


def content_of(case: str, *, fenced: bool) -> str:
    """The reply to *case*, always the same: JSON of about 400 characters, inside a fence for callers who ask for one."""
    if case == PROBE:
        return '{"name": "Ada", "age": 36}'
    seed = hashlib.sha256(case.encode()).digest()
    words = [_WORDS[byte % len(_WORDS)] for byte in seed + seed]
    sentences = [" ".join(words[start : start + 16]).capitalize() + "." for start in (0, 16, 32)]
    data = {"case": case, "title": " ".join(words[48:54]), "sentences": sentences, "mood": "worried", "confidence": seed[0] / 255}
    text = json.dumps(data)
    return f"```json\n{text}\n```" if fenced else text


def reply_body(path: str, model: str, ordinal: int, content: str, prompt_tokens: int) -> bytes:
    """A whole answer."""
    spent = len(content) // 4
    made = int(time.time())
    body: dict[str, Any]
    if path.endswith("/responses"):
        part = {"type": "output_text", "text": content, "annotations": []}
        message = {"type": "message", "id": f"msg_{ordinal}", "status": "completed", "role": "assistant", "content": [part]}
        usage = {
            "input_tokens": prompt_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": spent,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt_tokens + spent,
        }
        body = {"id": f"resp_{ordinal}", "object": "response", "created_at": made, "status": "completed", "model": model}
        body |= {"output": [message], "parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "usage": usage}
    else:
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop", "logprobs": None}
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": spent, "total_tokens": prompt_tokens + spent}
        body = {"id": f"chatcmpl-{ordinal}", "object": "chat.completion", "created": made, "model": model}
        body |= {"choices": [choice], "usage": usage}
    return json.dumps(body).encode()


def error_body(status: int, message: str, code: str) -> bytes:
    """An error in OpenAI's shape."""
    kind = {400: "invalid_request_error", 404: "invalid_request_error", 429: "rate_limit_error"}.get(status, "server_error")
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}}).encode()


def response(status: int, body: bytes, extra: str = "", *, content_type: str = "application/json") -> bytes:
    """Head and body of an HTTP/1.1 answer."""
    head = f"HTTP/1.1 {status} {REASONS[status]}\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body
