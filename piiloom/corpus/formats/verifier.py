"""Training sets for verifiers of findings, write only: a folder with ``verifier_1.jsonl``, ``verifier_2.jsonl`` and ``counts.json``.

Each span gives two chat rows in either file, one with a right and one with a wrong candidate (``verifier_candidates``: what is drawn, in
what shares). The user's message is that of ``verifier_messages``. The answer is ``T`` or ``F`` in verifier I, and
``{"reasoning": …, "answer": "T"}`` in verifier II (``verifier_reasons``).

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
from piiloom.corpus.formats.instructions import verifying
from piiloom.corpus.formats.native_rows import row_line
from piiloom.corpus.formats.verifier_candidates import Candidate, candidates
from piiloom.corpus.formats.verifier_messages import MOST_BESIDE, verifier_message
from piiloom.corpus.formats.verifier_reasons import reasoning
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import Taxonomy

FILES = ("verifier_1.jsonl", "verifier_2.jsonl")
COUNTS = "counts.json"
# Relevance, subtype, subject and rationale stand in the reasonings only.
_LOST_FIELDS = (*LOST_FIELDS, "relevance", "which spans a text has")

NO_TWIN = "no wrong candidate could be made beside it: it has no rows"
BLANK = "blank value: it has no rows"
CUT = "the text is cut around each candidate"


class VerifierFormat:
    """The format of the verifiers; see the module docstring."""

    name = "verifier"
    suffix = ""

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write both sets to the new folder *path*, in one pass."""
        entries: list[LossEntry] = []
        kinds: Counter[str] = Counter()
        path.mkdir()
        first, second = (path / name for name in FILES)
        with first.open("wb") as labels, second.open("wb") as reasons:
            for record in records:
                for candidate in chosen_candidates(record, entries):
                    kinds[candidate.kind] += 1
                    asked, answer = asked_of(record, candidate, options.taxonomy), "T" if candidate.right else "F"
                    labels.write(row_line(chat_row(verifying(options.taxonomy, reasoned=False), asked, answer)))
                    said = json.dumps({"reasoning": reasoning(record, candidate, options.taxonomy), "answer": answer}, ensure_ascii=False)
                    reasons.write(row_line(chat_row(verifying(options.taxonomy, reasoned=True), asked, said)))
        (path / COUNTS).write_text(json.dumps(counts_of(kinds), indent=2) + "\n", encoding="utf-8", newline="\n")
        return LossReport(fields=_LOST_FIELDS, entries=tuple(entries))


def chosen_candidates(record: Record, entries: list[LossEntry]) -> Iterator[Candidate]:
    """Yield the candidates of *record* that get rows, and append to *entries* what is lost."""
    spans = record.spans
    if spans and (spans[-1].start > MOST_BESIDE or len(record.context) - spans[0].end > MOST_BESIDE):
        entries.append(LossEntry(record_id=record.id, value=None, reason=CUT))
    for right, wrong in candidates(record):
        value = right.span.text_in(record.context)
        if wrong is None or not value.strip():
            entries.append(LossEntry(record_id=record.id, value=value, reason=NO_TWIN if value.strip() else BLANK))
            continue
        yield right
        yield wrong


def asked_of(record: Record, candidate: Candidate, taxonomy: Taxonomy) -> str:
    """Return the user's message."""
    return verifier_message(record.context, record.question, candidate.start, candidate.end, candidate.entity_type, taxonomy)


def counts_of(kinds: Counter[str]) -> Json:
    """Return what ``counts.json`` tells."""
    wrong = {kind: count for kind, count in sorted(kinds.items()) if kind != "span"}
    return {"rows": kinds.total(), "T": kinds["span"], "F": sum(wrong.values()), "F by kind": wrong}
