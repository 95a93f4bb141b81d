"""Hypothesis strategies: texts that break careless readers, and records over them."""

from __future__ import annotations

from hypothesis import strategies as st

from piiloom.corpus.record import LostValue, Provenance, Record, RecordPlan, SourceReference, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy

# Emoji with joiners, combining marks, right-to-left, every kind of line end, zero-width, BOM, separators, astral letters.
LINE_ENDS = ["\r\n", "\r", "\n", "\u2028", "\u2029", "\x85"]
NASTY = [*LINE_ENDS, "👩‍🚀", "e\u0301", "שלום", "مرحبا", "\u200b", "\ufeff", "𝔘", "🇨🇭", '"', "\\", "\t", "\xa0", "\0"]
TYPES = sorted(shipped_taxonomy().types)
texts = st.lists(st.one_of(st.sampled_from([*NASTY, " ", "word", "Ann’s", "34"]), st.text(max_size=6)), max_size=14).map("".join)
short = st.one_of(st.none(), st.text(max_size=8))
names = st.text(min_size=1, max_size=8)


@st.composite
def records(draw: st.DrawFn, record_id: str = "r1") -> Record:
    """Any record at all, with disjoint spans anywhere in its context."""
    context = draw(texts)
    cuts = draw(st.lists(st.integers(0, len(context)), max_size=8, unique=True).map(sorted))
    places = list(zip(cuts[::2], cuts[1::2], strict=False))
    ids = draw(st.lists(names, min_size=len(places), max_size=len(places), unique=True))
    spans = tuple(
        Span(
            id=name,
            start=start,
            end=end,
            entity_type=draw(st.sampled_from(TYPES)),
            relevance=draw(st.sampled_from(["high", "low", None])),
            subtype=draw(short),
            value_id=draw(short),
            subject=draw(short),
        )
        for name, (start, end) in zip(ids, places, strict=True)
    )
    return Record(
        id=record_id,
        revision=draw(st.integers(0, 3)),
        locale=draw(st.sampled_from(("en_US", "es_ES", "he_IL", "zh_CN"))),
        context=context,
        question=draw(st.one_of(st.none(), texts)),
        spans=spans,
        plan=draw(st.one_of(st.none(), plans())),
        source=draw(st.one_of(st.none(), sources())),
        group_keys=tuple(draw(st.lists(names, max_size=3))),
        provenance=draw(st.one_of(st.none(), provenances())),
    )


def sources() -> st.SearchStrategy[SourceReference]:
    place = st.one_of(st.none(), st.integers(1, 9))
    relevance = st.sampled_from(["high", "low", None])
    lost = st.builds(LostValue, text=texts, entity_type=names, reason=names, relevance=relevance, start=place, end=place)
    spelt = st.sampled_from(["high/low", None])
    return st.builds(SourceReference, file=names, line=place, id=short, lost=st.lists(lost, max_size=2).map(tuple), relevance_as=spelt)


def plans() -> st.SearchStrategy[RecordPlan]:
    pair = st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES))
    lookalikes = st.lists(st.sampled_from(("hotline", "price", "version_number")), unique=True).map(tuple)
    names = ("topic", "subtopic", "scenario", "rationale", "register", "cue_level")
    return st.builds(RecordPlan, pair=pair, lookalikes=lookalikes, **dict.fromkeys(names, short))


def provenances() -> st.SearchStrategy[Provenance]:
    templates = st.lists(st.tuples(names, names), max_size=2).map(tuple)
    parents = st.lists(names, max_size=2).map(tuple)
    seed = st.one_of(st.none(), st.integers(0, 2**63))
    return st.builds(Provenance, stage=names, provider=short, model=short, templates=templates, seed=seed, parents=parents)
