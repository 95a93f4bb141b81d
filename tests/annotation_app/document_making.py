"""Documents and operations for property tests. All is drawn from a ``random.Random``, which hypothesis can give too."""

from __future__ import annotations

import random
from typing import Any

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark

# Emoji with joiners and flags, combining marks, right-to-left, every line end, zero-width, astral letters.
BITS = ["👩‍🚀", "🇨🇭", "e\u0301", "שלום", "مرحبا", "\r\n", "\r", "\n", "\u200b", "𝔘", *"  aa", "word", "Ann’s", "34", ", ", "\xa0"]
TYPES = ["age", "belief", "no such type"]


def make_text(rng: random.Random, longest: int = 12) -> str:
    return "".join(rng.choices(BITS, k=rng.randint(0, longest)))


def make_document(rng: random.Random, longest: int = 14) -> EditedDocument:
    context = make_text(rng, longest)
    cuts = sorted(rng.sample(range(len(context) + 1), k=min(len(context), rng.choice([0, 2, 4, 8]))))
    marks = tuple(
        SpanMark(
            id=f"s{start}",
            start=start,
            end=end,
            entity_type=rng.choice(TYPES[:2]),
            relevance=rng.choice(["high", "low", None]),
            subtype=rng.choice([None, "kind"]),
            value_id=rng.choice([None, "v1"]),
        )
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    )
    return EditedDocument(context=context, question=rng.choice([None, "", "Who?", "Wer 👩‍🚀?"]), marks=marks)


def make_operation(rng: random.Random, document: EditedDocument) -> dict[str, Any]:
    """An operation in JSON, now and then one that is refused."""
    kind = rng.choice(["content"] * 12 + ["many", "accept", "reject", "reopen", "flag", "unflag"])
    if kind == "content":
        return make_content(rng, document)
    if kind == "many":
        return {"op": "many", "operations": [make_content(rng, document) for _ in range(rng.randint(1, 3))]}
    if kind in {"reject", "flag"}:
        return {"op": kind, "reason" if kind == "reject" else "comment": rng.choice(["why", "\u200b ", "", "<b>"])}
    return {"op": kind}


def make_content(rng: random.Random, document: EditedDocument) -> dict[str, Any]:
    name = rng.choice([mark.id for mark in document.marks] * 4 + ["none"])
    match rng.choice(["text", "text", "text", "add", "add", "move", "type", "relevance", "remove", "confirm"]):
        case "text":
            return make_edit(rng, document)
        case "add":
            start, end = make_range(rng, document.context)
            span = {"id": f"u-{rng.randint(0, 40)}", "start": start, "end": end, "type": rng.choice(TYPES[:2] * 3 + TYPES)}
            return {"op": "add", "span": span | {"relevance": rng.choice(["high", "low", None, "medium"])}}
        case "move":
            start, end = make_range(rng, document.context)
            return {"op": "move", "id": name, "start": start, "end": end}
        case "type":
            return {"op": "type", "id": name, "type": rng.choice(TYPES)}
        case "relevance":
            return {"op": "relevance", "id": name, "relevance": rng.choice(["high", "low", None, 5])}
        case kind:
            return {"op": kind, "id": name}


def make_range(rng: random.Random, text: str) -> tuple[int, int]:
    start = rng.randint(-1 if rng.random() < 0.05 else 0, len(text))
    return start, start + rng.choice([0, 1, 1, 2, 3, 5])


def make_edit(rng: random.Random, document: EditedDocument) -> dict[str, Any]:
    field = rng.choice(["context", "context", "context", "question"])
    text = document.context if field == "context" else document.question or ""
    at = rng.randint(0, len(text) + (rng.random() < 0.05))
    removed = text[at : at + rng.choice([0, 0, 1, 1, 3, 8])] if rng.random() < 0.95 else "xyz"
    return {"op": "text", "field": field, "at": at, "removed": removed, "inserted": make_text(rng, 2)}
