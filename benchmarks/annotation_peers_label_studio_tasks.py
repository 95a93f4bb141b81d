"""How records and spans look in Label Studio; used by ``annotation_peers_label_studio``."""

from __future__ import annotations

from typing import Any

from benchmarks.annotation_peers_material import TYPES, Story

# A key for each label, beside z and x for the relevance; "u" is the tool's own.
LABEL_KEYS = dict(zip(TYPES, "qwertyopasdfgjk", strict=True))
RELEVANCE_KEYS = {"high": "z", "low": "x"}


def config() -> str:
    """What is labelled: a type and a relevance for each span."""
    labels = "".join(f'<Label value="{name}" hotkey="{key}"/>' for name, key in LABEL_KEYS.items())
    choices = "".join(f'<Choice value="{name}" hotkey="{key}"/>' for name, key in RELEVANCE_KEYS.items())
    return (
        '<View><Style>.htx-text{ white-space: pre-wrap; }</Style><Header value="$question"/>'
        f'<Labels name="type" toName="text">{labels}</Labels><Text name="text" value="$text" granularity="word"/>'
        f'<Choices name="relevance" toName="text" perRegion="true" choice="single">{choices}</Choices></View>'
    )


def results(story: Story) -> list[dict[str, Any]]:
    """The spans of *story* as a prediction."""
    found = []
    for i, mark in enumerate(story.marks):
        place = {"start": mark.start, "end": mark.end, "text": story.text(mark)}
        common = {"id": f"s{i}", "to_name": "text"}
        found.append({**common, "from_name": "type", "type": "labels", "value": {**place, "labels": [mark.entity_type]}})
        found.append({**common, "from_name": "relevance", "type": "choices", "value": {**place, "choices": [mark.relevance]}})
    return found


def regions(entries: list[dict[str, Any]]) -> list[tuple[int, int, str, str, Any]]:
    """Start, end, text, type and relevance of each region of a result, in which each control has an entry of its own."""
    found: dict[str, dict[str, Any]] = {}
    for one in entries:
        found.setdefault(one["id"], {}).update(one["value"])
    return [
        (one["start"], one["end"], one.get("text", ""), one.get("labels", [""])[0], one.get("choices", [None])[0]) for one in found.values()
    ]
