"""Training sets for verifiers of findings, write only: a folder with ``verifier_1.jsonl``, ``verifier_2.jsonl`` and ``counts.json``.

Each span gives two chat rows in either file, one with a right and one with a wrong candidate (``verifier_candidates``: what is drawn, in
what shares). The user's message has the type that is asked with its definition, the question, and the text with the candidate between
``<candidate>`` and ``</candidate>``, escaped as in ``piiloom.corpus.markers``. The answer is ``T`` or ``F`` in verifier I, and
``{"reasoning": …, "answer": "T"}`` in verifier II (``verifier_reasons``). Of a text of more than 2,000 characters before or behind the
candidate the rest is cut, with an ellipsis, since a text is repeated for each of its spans.

``counts.json`` has the number of rows, and that of wrong ones by kind. A span without a wrong candidate has no rows and is in the loss
report.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, WriteOptions
from piiloom.corpus.formats.chat_rows import LOST_FIELDS, chat_row
from piiloom.corpus.formats.instructions import message, verifying
from piiloom.corpus.formats.json_rows import row_line
from piiloom.corpus.formats.verifier_candidates import Candidate, candidates
from piiloom.corpus.formats.verifier_reasons import reasoning
from piiloom.corpus.markers import marked_text
from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entity_types import load_taxonomy

FILES = ("verifier_1.jsonl", "verifier_2.jsonl")
COUNTS = "counts.json"
# Relevance, subtype, subject and rationale stand in the reasonings only.
_LOST_FIELDS = (*LOST_FIELDS, "relevance", "which spans a text has")
_MARKED = "candidate"
_MOST_BESIDE = 2000

NO_TWIN = "no wrong candidate could be made beside it: it has no rows"
BLANK = "blank value: it has no rows"
CUT = "the text is cut around each candidate"


class VerifierFormat:
    """The format of the verifiers; see the module docstring."""

    name = "verifier"
    suffix = ""

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write both sets to the new folder *path*, in one pass."""
        entries: list[LossEntry] = []
        kinds: Counter[str] = Counter()
        path.mkdir()
        first, second = (path / name for name in FILES)
        with first.open("wb") as labels, second.open("wb") as reasons:
            for record in records:
                for candidate in _chosen(record, entries):
                    kinds[candidate.kind] += 1
                    asked, answer = _asked(record, candidate), "T" if candidate.right else "F"
                    labels.write(row_line(chat_row(verifying(reasoned=False), asked, answer)))
                    said = json.dumps({"reasoning": reasoning(record, candidate), "answer": answer}, ensure_ascii=False)
                    reasons.write(row_line(chat_row(verifying(reasoned=True), asked, said)))
        (path / COUNTS).write_text(json.dumps(_counts(kinds), indent=2) + "\n", encoding="utf-8", newline="\n")
        return LossReport(fields=_LOST_FIELDS, entries=tuple(entries))


def _chosen(record: Record, entries: list[LossEntry]) -> Iterator[Candidate]:
    """Yield the candidates of *record* that get rows, and append to *entries* what is lost."""
    spans = record.spans
    if spans and (spans[-1].start > _MOST_BESIDE or len(record.context) - spans[0].end > _MOST_BESIDE):
        entries.append(LossEntry(record_id=record.id, value=None, reason=CUT))
    for right, wrong in candidates(record):
        value = right.span.text_in(record.context)
        if wrong is None or not value.strip():
            entries.append(LossEntry(record_id=record.id, value=value, reason=NO_TWIN if value.strip() else BLANK))
            continue
        yield right
        yield wrong


def _asked(record: Record, candidate: Candidate) -> str:
    """Return the user's message."""
    known = load_taxonomy().types.get(candidate.entity_type)
    asked = f"Type: {candidate.entity_type}" + (f" ({known.described()})" if known else "")
    return f"{asked}\n{message(_marked(record.context, candidate), record.question)}"


def _marked(context: str, candidate: Candidate) -> str:
    """Return *context*, cut as the module docstring says, with the candidate marked."""
    begin, stop = 0, len(context)
    if candidate.start > _MOST_BESIDE:
        begin = candidate.start - _MOST_BESIDE
        begin = max(begin, context.find(" ", begin, candidate.start) + 1)
    if stop - candidate.end > _MOST_BESIDE:
        stop = candidate.end + _MOST_BESIDE
        blank = context.rfind(" ", candidate.end, stop)
        stop = stop if blank < 0 else blank
    span = Span(id=_MARKED, start=candidate.start - begin, end=candidate.end - begin, entity_type=_MARKED)
    marked = marked_text(context[begin:stop], [span])
    return ("…" if begin else "") + marked + ("…" if stop < len(context) else "")


def _counts(kinds: Counter[str]) -> Json:
    wrong = {kind: count for kind, count in sorted(kinds.items()) if kind != "span"}
    return {"rows": kinds.total(), "T": kinds["span"], "F": sum(wrong.values()), "F by kind": wrong}
