"""The figures as plain tables, for the terminal and the dataset card."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from piiloom.evaluation.pages.parts import NOTHING, Quoted, ReportTable, as_decimal, as_percent, count, short, with_share
from piiloom.evaluation.report.counts import FEWEST_WORDS, KIND_SHARE, TypeFigures
from piiloom.evaluation.report.figures import CHANCE, ReportFigures, SplitFigures
from piiloom.evaluation.report.sources import FileReading, ReportSource
from piiloom.evaluation.report.wording import OPENER_WORDS, ORDERS, SAMPLE_TEXTS, SAMPLE_WORDS, LengthBin, SelfBleu, TextFigures

_BAR = 30
_OPENERS_SHOWN = 8
_KINDS_SHOWN = 30


def span_of_bin(each: LengthBin) -> str:
    """``40–49``, or ``240+`` for the open one."""
    if each.last is None:
        return f"{each.first:,}+"
    return count(each.first) if each.first == each.last else f"{each.first:,}–{each.last:,}"


def bleu(score: SelfBleu) -> str:
    """``0.304 (3 × 100 texts)``."""
    if score.mean is None:
        return NOTHING
    drawn = f"{score.samples} × {score.texts} texts" if score.samples > 1 else f"{score.texts} texts"
    return f"{score.mean:.3f} ({drawn})"


def shares_of(shares: Iterable[float | None] | None) -> str:
    """``.060/.274``: without leading zeros, so that two kinds of text fit side by side."""
    return NOTHING if shares is None else "/".join(NOTHING if share is None else f"{share:.3f}".removeprefix("0") for share in shares)


def all_tables(source: ReportSource, figures: ReportFigures) -> list[ReportTable]:
    """Return the tables in reading order, without empty ones."""
    found = [
        reading_table(source.reading),
        records_table(figures),
        splits_table(figures),
        guessability_table(figures),
        question_use_table(figures),
        leaks_table(figures),
        wording_table(figures),
        variety_table(figures),
        openers_table(figures),
        lengths_table(figures.contexts),
        relevance_table(figures.types),
        values_table(figures.types),
        plan_table(figures),
    ]
    return [table for table in found if table.rows]


def reading_table(reading: FileReading | None) -> ReportTable:
    """Return the table of how the file was read: refused rows, and how values were found."""
    rows: list[tuple[str, ...]] = (
        []
        if reading is None
        else [
            ("rows", count(reading.rows)),
            ("refused rows", count(reading.refused)),
            *((Quoted(f"… {reason}"), count(number)) for reason, number in reading.reasons.items()),
            ("values in all rows", count(reading.values)),
            ("values found as whole words", count(reading.exact)),
            ("… of them more than once", count(reading.ambiguous)),
            ("values only inside a longer word", count(reading.inside_word)),
            ("values found nowhere", count(reading.missing)),
            ("mentions left out for a longer one", count(reading.overlapping)),
        ]
    )
    return ReportTable(
        title="reading",
        columns=("what", "number"),
        rows=tuple(rows),
        note="Refused rows are in none of the figures below; piiloom import writes them to a file.",
    )


def records_table(figures: ReportFigures) -> ReportTable:
    """Records, spans and relevance."""
    counts, cards = figures.counts, figures.cards
    rows: list[tuple[str, ...]] = [
        ("records", count(counts.records)),
        ("spans", count(counts.spans)),
        ("spans of high / low / no relevance", f"{count(counts.high)} / {count(counts.low)} / {count(counts.unjudged)}"),
        ("records without PII", as_percent(counts.without_pii_share)),
        ("records with exactly two high spans", as_percent(counts.exactly_two_high_share)),
        ("records with one type both high and low", as_percent(counts.type_high_and_low_share)),
        ("records with all high spans before all low ones", as_percent(counts.high_first_share)),
        ("card-like numbers that pass Luhn", f"{count(cards.passing_luhn)} of {count(cards.numbers)}" if cards.numbers else NOTHING),
    ]
    return ReportTable(
        title="records", columns=("figure", "value"), rows=tuple(rows), note="All high before all low: of the records that have both."
    )


def splits_table(figures: ReportFigures) -> ReportTable:
    """Return the table with the main figures of each split."""
    return ReportTable(
        title="splits",
        columns=("split", "records", "spans", "high", "words p50", "type", "position", "overlap"),
        rows=tuple(map(_split_row, figures.splits)),
        note="Type, position, overlap: how well relevance is guessed from it alone (balanced accuracy, in sample).",
    )


def _split_row(split: SplitFigures) -> tuple[str, ...]:
    counts, guess = split.counts, split.guessability
    accuracies = (as_decimal(each.accuracy) for each in (guess.type, guess.position, guess.word_overlap))
    judged = counts.high + counts.low
    high = as_percent(counts.high / judged if judged else None)
    sizes = (count(counts.records), count(counts.spans), high, count(split.lengths.p50))
    return (split.split, *sizes, *accuracies)


def guessability_table(figures: ReportFigures) -> ReportTable:
    """Return the table of how well relevance is guessed without reading the text."""
    guess = figures.guessability
    named = (
        ("type alone", guess.type),
        ("position alone", guess.position),
        ("type and position", guess.type_and_position),
        ("story or scenario, and subtype", guess.story_and_slot),
        ("question–value word overlap alone", guess.word_overlap),
    )
    return ReportTable(
        title="guessability of relevance",
        columns=("from", "accuracy", "labels shuffled"),
        rows=tuple((name, as_decimal(each.accuracy), as_decimal(each.shuffled)) for name, each in named if each.accuracy is not None),
        note=(
            f"Balanced accuracy over {count(guess.spans)} spans, in sample; {CHANCE} is chance, and the shuffled figure is what chance "
            "reaches here. Near it is good: what guesses relevance without reading is a shortcut that a detector can learn."
        ),
    )


def question_use_table(figures: ReportFigures) -> ReportTable:
    """Return the table of how much the question helps to predict relevance."""
    use = figures.question_use
    rows: list[tuple[str, ...]] = [("records whose text has another question too", as_percent(use.grouped_share))]
    if use.turning_share is not None:
        rows.append(("values of such texts that are high for one question, low for another", as_percent(use.turning_share)))
    if use.blind is not None and use.aware is not None:
        rows.append(("relevance predicted without the question", as_decimal(use.blind)))
        rows.append(("relevance predicted with the question's words", as_decimal(use.aware)))
    return ReportTable(
        title="what the question is worth",
        columns=("figure", "value"),
        rows=tuple(rows),
        note=(
            "Predicted: balanced accuracy of a logistic regression (type, subtype, place; with the question: its words beside the type) on "
            f"stories or groups left out of its training; {CHANCE} is chance. The further apart, the more reading the question is worth."
        ),
    )


def leaks_table(figures: ReportFigures) -> ReportTable:
    """Return the table of leaks: from questions, and from the train into the test split."""
    leaks, across = figures.question_leaks, figures.split_leaks
    rows: list[tuple[str, ...]] = []
    if leaks.questions:
        rows += [
            ("questions that hold a full value", with_share(leaks.holding_value, leaks.holding_value_share)),
            ("questions that share a content word with a high value", with_share(leaks.sharing_word, leaks.sharing_word_share)),
        ]
    if across is not None:
        rows += [
            ("distinct test values that are also in train", as_percent(across.values_share)),
            ("test contexts that nearly repeat one of train", as_percent(across.contexts_share)),
            ("test questions that nearly repeat one of train", as_percent(across.questions_share)),
        ]
    return ReportTable(title="leakage", columns=("leak", "found"), rows=tuple(rows))


def wording_table(figures: ReportFigures) -> ReportTable:
    """Return the table of diversity figures, with contexts and questions side by side."""
    kinds = [("contexts", figures.contexts), ("questions", figures.questions)]
    there = [(name, texts) for name, texts in kinds if texts is not None]
    columns = [_wording_column(texts) for _, texts in there]
    install = next((texts.self_bleu.install for _, texts in there if texts.self_bleu.install), None)
    missing = f" Self-BLEU needs an extra: {install}" if install else ""
    note = (
        "Distinct-n: different n-grams by all. It falls as a corpus grows; compare corpora by the line of a fixed number of words. "
        f"Self-BLEU (BLEU-4 of a text against the others of a sample of {SAMPLE_TEXTS}; 0 to 1, lower is more varied) only compares for "
        "equal samples. Near-duplicates: Jaccard of 5-word shingles ≥ .5, by an exact index that finds more than MinHash does."
    )
    return ReportTable(
        title="diversity",
        columns=("figure", *(name for name, _ in there)),
        rows=tuple((name, *(column[at][1] for column in columns)) for at, (name, _) in enumerate(columns[0])),
        note=note + missing,
    )


def _wording_column(texts: TextFigures) -> list[tuple[str, str]]:
    lengths, openers, repeats = texts.lengths, texts.openers, texts.repeats
    top = openers.top[0].share if openers.top else None
    return [
        ("texts", count(texts.texts)),
        ("words", count(texts.words)),
        ("different words", count(texts.vocabulary)),
        ("words a text p5/p50/p95", "/".join(count(p) for p in (lengths.p5, lengths.p50, lengths.p95))),
        (f"distinct-{'/'.join(map(str, ORDERS))}", shares_of(texts.distinct)),
        (f"… in {SAMPLE_WORDS:,} words", shares_of(texts.distinct_sampled)),
        ("self-BLEU", bleu(texts.self_bleu)),
        ("near-duplicates", as_percent(repeats.near_share)),
        ("… with the same words", as_percent(repeats.identical_share)),
        (f"different openers ({OPENER_WORDS} words)", count(openers.distinct)),
        ("openers that begin half", count(openers.for_half)),
        ("most frequent opener", as_percent(top)),
    ]


def variety_table(figures: ReportFigures) -> ReportTable:
    """Return the table of shared sentences, stories and questions, direct identifiers and look-alikes."""
    found = figures.variety
    rows: list[tuple[str, ...]] = [
        (f"texts that share a sentence of {FEWEST_WORDS} words or more", as_percent(found.sharing_share)),
        ("such sentences that several texts have", as_percent(found.shared_sentences_share)),
    ]
    if found.stories:
        most = f"{found.records_per_story:.1f} (at most {count(found.most_of_story)})"
        rows += [("stories or scenarios", count(found.stories)), ("records of each", most)]
    rows += [
        ("different questions", count(found.questions)),
        ("records of each question", f"{found.records_per_question:.2f}" if found.records_per_question else NOTHING),
        ("texts with a direct identifier", as_percent(found.direct_share)),
        (f"kinds of these in {as_percent(KIND_SHARE)} of the texts or more", count(found.common_kinds)),
        *((Quoted(f"… {kind}"), with_share(number, number / found.texts)) for kind, number in [*found.identifiers.items()][:_KINDS_SHOWN]),
        ("texts with a look-alike (no span)", as_percent(found.lookalike_share)),
        *((Quoted(f"… {kind}"), with_share(number, number / found.texts)) for kind, number in found.lookalikes.items()),
    ]
    return ReportTable(
        title="variety",
        columns=("figure", "value"),
        rows=tuple(rows),
        note=(
            "Sentences are compared in lower case by their letters, each value replaced by one sign; texts of several questions count "
            "once. Direct identifiers: by taxonomy/identifying.yaml and the entity catalogue, names among them. Look-alikes: those that "
            "plans name."
        ),
    )


def openers_table(figures: ReportFigures) -> ReportTable:
    """The most frequent beginnings."""
    kinds = [("contexts", figures.contexts), ("questions", figures.questions)]
    return ReportTable(
        title="most frequent openers",
        columns=("of", "opener", "texts", "share"),
        rows=tuple(
            (name, Quoted(short(opener.words)), count(opener.texts), as_percent(opener.share))
            for name, texts in kinds
            if texts is not None
            for opener in texts.openers.top[:_OPENERS_SHOWN]
        ),
        texts=2,
    )


def lengths_table(texts: TextFigures) -> ReportTable:
    """Return the histogram of words per context, with bars drawn as text."""
    bins = texts.lengths.histogram
    highest = max((each.texts for each in bins), default=1)
    return ReportTable(
        title="words a context",
        columns=("words", "", "contexts"),
        rows=tuple((span_of_bin(each), "█" * round(_BAR * each.texts / highest), count(each.texts)) for each in bins),
        texts=2,
    )


def relevance_table(types: Sequence[TypeFigures]) -> ReportTable:
    """Types by relevance."""
    return ReportTable(
        title="types by relevance",
        columns=("type", "spans", "high", "low", "none", "high %", "records"),
        rows=tuple(
            (Quoted(t.type), *map(count, (t.mentions, t.high, t.low, t.unjudged)), as_percent(_high_share(t)), count(t.records))
            for t in types
        ),
        note="High %: of the spans with a relevance. A type that is nearly always high, or never, can be guessed.",
    )


def values_table(types: Sequence[TypeFigures]) -> ReportTable:
    """How often values repeat."""
    opened = ", ".join(t.type for t in types if t.open)
    return ReportTable(
        title="values by type",
        columns=("type", "most frequent value", "share", "values", "distinct", "once"),
        rows=tuple(
            (
                Quoted(t.type),
                Quoted(short(t.top[0].value)),
                as_percent(t.top[0].share),
                count(t.distinct),
                as_percent(t.distinct_share),
                as_percent(sum(values for mentions, values in t.repeats if mentions == 1) / t.mentions),
            )
            for t in types
        ),
        note=(
            "Share: of the type's mentions. Distinct: values by mentions. Once: mentions whose value has no other. "
            f"Values of open types should seldom repeat: {opened or 'none here'}."
        ),
        texts=2,
    )


def plan_table(figures: ReportFigures) -> ReportTable:
    """Return the table of plan and origin: pairs, topics, registers, locales, producers."""
    plan = figures.plan
    rows: list[tuple[str, ...]] = []
    if plan.planned:
        sizes = sorted(plan.pairs.values())
        spread = f"{count(sizes[0])} to {count(sizes[-1])} records each"
        rows += [
            ("pairs of types", f"{len(plan.pairs)} of {plan.pairs_possible}; {spread}"),
            ("topics, subtopics, scenarios", f"{count(plan.topics)}, {count(plan.subtopics)}, {count(plan.scenarios)}"),
        ]
    groups = (("registers", plan.registers), ("cue levels", plan.cue_levels), ("locales", plan.locales), ("origin", plan.producers))
    rows += [(name, Quoted(", ".join(f"{each}: {number:,}" for each, number in counts.items()))) for name, counts in groups if counts]
    return ReportTable(title="plan and origin", columns=("what", "records"), rows=tuple(rows), texts=2)


def _high_share(figures: TypeFigures) -> float | None:
    judged = figures.high + figures.low
    return figures.high / judged if judged else None
