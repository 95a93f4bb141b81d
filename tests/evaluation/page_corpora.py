"""Corpora for the tests of the dataset page: hostile texts, twins, and texts in which code points are no UTF-16 units."""

from __future__ import annotations

from dataclasses import replace

from piiloom.corpus.record import CONTRAST_GROUP, Record, RecordPlan, Span
from piiloom.evaluation.report.sources import Background, Corpus, ReportSource, StatedRelease
from tests.evaluation.report_records import marked, varied

ATTACK = "</script></title></style><img src=x onerror=alert(1)><script>alert(2)</script>'\"&lt;<!--"
WIDE = "👩‍🚀🎉 I, a [b́aker🥐|occupation|high] from [שלום|location|low] \u202eodd, said “[नमस्ते|name|none]” 🎉."


def attacked() -> Record:
    """A record with markup in every field that is shown."""
    context = f"Before {ATTACK} after."
    span = Span(id="s1", start=7, end=7 + len(ATTACK), entity_type=ATTACK, relevance="high", subtype=ATTACK, subject=ATTACK)
    plan = RecordPlan(
        pair=(ATTACK, "age"), topic=ATTACK, subtopic=ATTACK, scenario=ATTACK, rationale=ATTACK, register=ATTACK, cue_level=ATTACK
    )
    return Record(id=ATTACK, context=context, locale=ATTACK, question=f"Q {ATTACK}", spans=(span,), plan=plan)


def twins() -> list[Record]:
    """One text with two questions; the baker matters for the first only, Leeds for none."""
    keys = (f"{CONTRAST_GROUP}1",)
    one = replace(marked("I am a [baker|occupation|high] in [Leeds|location|low].", "What do bakers earn?", name="t1"), group_keys=keys)
    two = replace(marked("I am a [baker|occupation|low] in [Leeds|location|low].", "Will it rain?", name="t2"), group_keys=keys)
    return [one, two]


def page_corpus(**background: object) -> Corpus:
    """All of these beside the usual records, split in two."""
    records = [*varied(), *twins(), marked(WIDE, "Wide?", name="wide"), attacked()]
    release = StatedRelease(name=f"mine {ATTACK}", notes=ATTACK, license=ATTACK, version="1.2.0", content_sha256="ab" * 32)
    told = Background(**{"release": release, **background})  # type: ignore[arg-type] # the keywords are those of Background
    source = ReportSource(file="some.duckdb", release=release.name)
    return Corpus(source=source, splits={"train": records[:-6], "test": records[-6:]}, background=told)
