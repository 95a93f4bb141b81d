"""The sample that the page's search box looks through, as JSON for a ``script`` element of type ``application/json``."""

from __future__ import annotations

import json
from collections.abc import Sequence

from markupsafe import Markup

from piiloom.evaluation.pages.cells import visible
from piiloom.evaluation.report.page.marked_texts import LONGEST, shown_spans
from piiloom.evaluation.report.samples import Sampled

# Characters of texts in the page: 300 records of 100 words have 170,000.
_MOST_CHARACTERS = 500_000
_HARMFUL = {ord(character): f"\\u{ord(character):04x}" for character in "<>&'\u2028\u2029"}


def search_sample(families: Sequence[Sequence[Sampled]]) -> tuple[Markup, int]:
    """Return the JSON and the number of records in it; a text that several records share is in it once.

    ``texts``: the contexts; ``types``: names; ``records``: id, split, index of the text, question and spans; a span is start, end
    (code points), index of the type, relevance ("high", "low" or null).
    """
    texts: dict[str, int] = {}
    types: dict[str, int] = {}
    records: list[dict[str, object]] = []
    size = 0
    for each in (each for family in families for each in family):
        record = each.record
        context = visible(record.context[:LONGEST])
        size += (0 if context in texts else len(context)) + len(record.question or "")
        if size > _MOST_CHARACTERS and records:
            break
        spans = [
            [span.start, span.end, types.setdefault(visible(span.entity_type), len(types)), span.relevance] for span in shown_spans(record)
        ]
        question = None if record.question is None else visible(record.question[:LONGEST])
        records.append(
            {
                "id": visible(record.id),
                "split": each.split,
                "text": texts.setdefault(context, len(texts)),
                "question": question,
                "spans": spans,
            }
        )
    data = {"texts": list(texts), "types": list(types), "records": records}
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_HARMFUL)
    return Markup(written), len(records)  # noqa: S704 - no "<" is left
