"""Records for the tests of the report, written as people read them: ``I am a [baker|occupation|high].``"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import Record, RecordPlan, Span
from piiloom.evaluation.report.figures import ReportFigures, measure
from piiloom.taxonomy.entity_types import shipped_taxonomy

_MARK = re.compile(r"\[([^|\]]+)\|([^|\]]+)\|(high|low|none)\]")
PLAN = RecordPlan(pair=("health", "occupation"), topic="work", subtopic="shifts", scenario="s1", register="forum post", cue_level="neutral")


def marked(
    text: str, question: str | None = "Which forms do I need?", *, name: str | None = None, plan: RecordPlan | None = PLAN
) -> Record:
    """The record of a marked text; its id is *name*, or the text."""
    context, spans, at = "", [], 0
    for number, found in enumerate(_MARK.finditer(text), start=1):
        context += text[at : found.start()]
        value, entity_type, relevance = found.groups()
        end = len(context) + len(value)
        judged = None if relevance == "none" else relevance
        spans.append(Span(id=f"s{number}", start=len(context), end=end, entity_type=entity_type, relevance=judged))
        context, at = context + value, found.end()
    return Record(id=name or text, context=context + text[at:], question=question, spans=tuple(spans), plan=plan)


def varied() -> list[Record]:
    """A little of everything: leaks, repeats, cards, no PII, no relevance, one type both high and low, twins."""
    jobs = ["baker", "pilot", "nurse", "welder", "tailor", "chef", "clerk", "judge"]
    ills = ["asthma", "gout", "diabetes", "Asthma", "migraine"]
    rows = [
        (
            f"As a [{job}|occupation|high] of [{20 + n}|age|low] I live with [{ills[n % 5]}|health|high] and number {100 + n} by the sea.",
            None,
        )
        for n, job in enumerate(jobs)
    ]
    rows = [(text, f"What should worker number {n} do about night shifts in season {n + 3}?") for n, (text, _) in enumerate(rows)]
    rows += [
        ("My [sister|relationship|low] sells kites and I pay with [4111 1111 1111 1111|code|low] at noon.", "Can I get a refund on kites?"),
        (
            "We met [Ann Lee|name|low] while [4111111111111112|code|none] was on the slip, said my [aunt|relationship|high].",
            "Is my aunt right?",
        ),
        ("Nothing to see on this grey and quiet morning by the old canal.", "Will it rain on the canal?"),
        (
            "I work as a [tax clerk|occupation|high], before that as a [cook|occupation|low], in [Leeds|location|low].",
            "Does a clerk owe more?",
        ),
        ("I moved to [Leeds|location|high] for the music and the [$1,200|finance|high] they owe me there.", "Who pays me in Leeds by law?"),
        ("I moved to [York|location|low] for the music, then the [$1,200|finance|low] were gone again.", "Who pays me in Leeds by law?"),
    ]
    plans = [
        PLAN,
        RecordPlan(pair=("age", "belief"), topic="rites"),
        RecordPlan(pair=("occupation", "health"), topic="work", subtopic="pay"),
    ]
    return [marked(text, question, name=f"r{n}", plan=plans[n % 3]) for n, (text, question) in enumerate(rows)]


@cache
def varied_figures() -> ReportFigures:
    """The figures of ``varied``."""
    return measure({"all": varied()}, taxonomy=shipped_taxonomy())


def write_native(records: list[Record], path: Path) -> Path:
    """A native file of *records*."""
    NativeFormat().write(records, path, WriteOptions(taxonomy=shipped_taxonomy()))
    return path


def write_capid(records: list[Record], path: Path) -> Path:
    """A CAPID file of those of *records* whose spans all have a relevance; each must hold no value twice."""
    rows = []
    for record in records:
        if all(span.relevance for span in record.spans):
            labels = {"high": "1", "low": "0"}
            piis = {s.text_in(record.context): {"type": s.entity_type, "relevance": labels[s.relevance]} for s in record.spans}
            rows.append(json.dumps({"context": record.context, "question": record.question, "piis": piis}))
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
