"""Write a result to a folder: ``answers.jsonl``, ``comparisons.jsonl``, ``utility.md`` and ``utility.json``.

All files are written under temporary names first, and ``utility.json`` is renamed last, so a folder that has it is complete. The two JSONL
files hold corpus text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.native_rows import row_line
from piiloom.evaluation.pages.parts import NOTHING, ReportTable, as_decimal
from piiloom.evaluation.utility.evaluating import ALL_PAIRS, MeanFigure, PairCounts, UtilityResult
from piiloom.evaluation.utility.options import UtilityCase
from piiloom.evaluation.utility.tasks import NAME, TIES, PairVerdict, UtilityOutcomes, kept_share, told_share
from piiloom.execution.calls import Lost
from piiloom.foundation.whole_files import write_folder
from piiloom.foundation.words import counted, escaped, pipe_table

# The title of each figure of a variant.
_TITLES: Final[Mapping[str, str]] = {
    "win_rate": "win rate",
    "completeness": "completeness",
    "violation_answer_judge": "answer tells (judge)",
    "violation_answer_exact": "answer tells (exact)",
    "violation_context_judge": "context tells (judge)",
    "violation_context_exact": "context tells (exact)",
    "kept_relevant": "relevant kept",
    "word_overlap": "words kept",
    "answer_words": "answer words",
}
_WITH_INTERVALS: Final = ("win_rate", "completeness", "violation_answer_judge")
_COUNTS: Final = ("answer_words",)
FIGURES_FILE: Final = "utility.json"
TABLE_FILE: Final = "utility.md"
ANSWERS_FILE: Final = "answers.jsonl"
COMPARISONS_FILE: Final = "comparisons.jsonl"


def utility_tables(result: UtilityResult) -> tuple[ReportTable, ...]:
    """Return the tables of variants and pairs; with a second judge also its pairs, and the agreement of both judges."""
    first = _pair_table(result, result.figures.pairs, result.method)
    if not result.second_method:
        return _variant_table(result), first
    second = _pair_table(result, result.figures.second_pairs, f"the same answers, {result.second_method}")
    return _variant_table(result), first, second, _agreement_table(result)


def _agreement_table(result: UtilityResult) -> ReportTable:
    return ReportTable(
        title="agreement of the two judges: win, tie or loss",
        columns=("pair", "decided by both", "same result", "Cohen's kappa"),
        rows=tuple(
            (
                f"{one.one} : {one.other}" if one.one != ALL_PAIRS else "all pairs",
                f"{one.pairs:,}",
                *map(as_decimal, (one.same, one.kappa)),
            )
            for one in result.figures.agreement
        ),
    )


def _variant_table(result: UtilityResult) -> ReportTable:
    """Return utility and violation side by side, a column a variant; figures that nobody has are left out."""
    by_variant = result.figures.variants
    return ReportTable(
        title=f"utility and violation: {result.method}",
        columns=("", *by_variant),
        rows=tuple(
            (title, *(_cell(figures[name], interval=name in _WITH_INTERVALS, count=name in _COUNTS) for figures in by_variant.values()))
            for name, title in _TITLES.items()
            if any(figures[name].value is not None for figures in by_variant.values())
        ),
    )


def _pair_table(result: UtilityResult, pairs: Sequence[PairCounts], method: str) -> ReportTable:
    """Return wins, ties and losses of each of *pairs*, and the share of wins."""
    kinds = () if result.asked is None else TIES
    return ReportTable(
        title=f"pairs: {method}",
        columns=("pair", "wins", "ties", "losses", *(f"of ties: {kind}" for kind in kinds), "undecided", "preferred"),
        rows=tuple(
            (
                f"{pair.one} : {pair.other}",
                *(f"{count:,}" for count in (pair.wins, pair.ties, pair.losses, *(pair.results[kind] for kind in kinds), pair.missing)),
                as_decimal(pair.preferred),
            )
            for pair in pairs
        ),
    )


def remarks(result: UtilityResult) -> list[str]:
    """Say what the tables cannot."""
    figures = result.figures
    told = f"{counted(figures.records, 'record')} of {counted(figures.documents, 'document')}"
    lines = [f"{told}; 95% intervals by a bootstrap over documents"]
    lines += [f"left out: {count:,} ({reason})" for reason, count in result.left_out.items()]
    if figures.followed.value is not None:
        share = _cell(figures.followed)
        lines.append(f"position bias: {share} of {figures.followed.of:,} pairs follow the position")
    if figures.first.value is not None:
        share = _cell(figures.first)
        lines.append(f"the first answer is named in {share} of {figures.first.of:,} verdicts that name one")
    for kind, reasons in figures.lost.items():
        lines.append(f"without a usable reply: {kind}: {', '.join(f'{reason} {count:,}' for reason, count in reasons.items())}")
    if result.asked is None:
        lines.append("No model was asked: this says what the variants still tell, not how good answers from them would be.")
    return lines


def _cell(figure: MeanFigure, *, interval: bool = True, count: bool = False) -> str:
    if figure.value is None:
        return NOTHING
    value = f"{figure.value:.0f}" if count else f"{figure.value:.3f}"
    return value if figure.interval is None or not interval else f"{value} [{figure.interval.low:.3f}, {figure.interval.high:.3f}]"


def write_result(out: Path, result: UtilityResult, source: str) -> tuple[str, ...]:
    """Write *result*, of the records in *source*, to *out*; return the names of the files. Raises ``OutputError``."""
    contents = {
        ANSWERS_FILE: b"".join(map(row_line, answer_rows(result))),
        COMPARISONS_FILE: b"".join(map(row_line, comparison_rows(result))),
        TABLE_FILE: as_markdown(result, source).encode("utf-8", "replace"),
        FIGURES_FILE: (json.dumps({"source": source, **result.to_json()}, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace"),
    }
    write_folder(out, contents)
    return tuple(contents)


def answer_rows(result: UtilityResult) -> Iterator[Json]:
    """Yield a row for each case and variant: the answer with its grades; for the stand-in, what the variant tells."""
    for case in result.cases:
        protected = [fact.value for fact in case.protected]
        for variant, shown in case.shown.items():
            first = case.first_alike(variant)
            row: Json = {
                "record": case.id,
                "variant": variant,
                "same_as": first if first != variant else None,
                "question": shown.question,
                "context_tells_exact": told_share(shown.whole, protected),
                "kept_relevant": kept_share(case, variant),
            }
            yield row | ({"by": NAME} if result.asked is None else _said(case, first, result.outcomes, protected))


def _said(case: UtilityCase, variant: str, outcomes: UtilityOutcomes, protected: list[str]) -> Json:
    key = (case.id, variant)
    answer, grade, disclosed = outcomes.answers.get(key), outcomes.grades.get(key), outcomes.disclosures.get(key)
    told: Json = {"answer": None, "answer_tells_exact": None, "completeness": None, "disclosed": None}
    if isinstance(answer, str):
        told |= {"answer": answer, "answer_tells_exact": told_share(answer, protected)}
    if grade is not None and not isinstance(grade, Lost):
        told["completeness"] = {"score": grade.score, "reason": grade.reason}
    if disclosed is not None and not isinstance(disclosed, Lost):
        told["disclosed"] = [
            {"value": fact.value, "type": fact.entity_type, "context": one.context, "answer": one.answer, "reason": one.reason}
            for fact, one in zip(case.protected, disclosed, strict=True)
        ]
    named = (("answer", answer), ("completeness", grade), ("disclosed", disclosed))
    return told | {"errors": {name: _error(one) for name, one in named if isinstance(one, Lost)}}


def comparison_rows(result: UtilityResult) -> Iterator[Json]:
    """Yield a row for each case and pair of variants: how it ended, and the verdicts in both orders."""
    for case in result.cases:
        for one, other in combinations(result.variants, 2):
            ended = result.pair(case, one, other)
            row: Json = {"record": case.id, "one": one, "other": other, "result": ended}
            if result.asked is None:
                yield row | {"by": NAME}
                continue
            orders = ((one, other), (other, one))
            row["verdicts"] = [said for order in orders if (said := _verdict(case, order, result.outcomes.verdicts))]
            if result.asked.second is not None:
                row["second_result"] = result.pair(case, one, other, second=True)
                verdicts = result.outcomes.second_verdicts
                row["second_verdicts"] = [said for order in orders if (said := _verdict(case, order, verdicts))]
            yield row


def _verdict(case: UtilityCase, order: tuple[str, str], verdicts: Mapping[tuple[str, str, str], PairVerdict | Lost]) -> Json | None:
    first, second = order
    said = verdicts.get((case.id, case.first_alike(first), case.first_alike(second)))
    if said is None:
        return None
    place: Json = {"first": first, "second": second}
    if isinstance(said, PairVerdict):
        named = {"first": first, "second": second, "tie": "tie"}[said.better]
        return place | {"position": said.better, "better": named, "reason": said.reason}
    return place | {"error": _error(said)}


def _error(lost: Lost) -> dict[str, Any]:
    return {"code": lost.code, "message": lost.message, "attempts": lost.attempts, "last_reply": lost.last_reply}


def as_markdown(result: UtilityResult, source: str) -> str:
    """Return the tables and remarks as Markdown."""
    tables = (
        f"**{escaped(table.title)}**\n\n{pipe_table([*map(escaped, table.columns)], ([*map(escaped, row)] for row in table.rows))}"
        for table in utility_tables(result)
    )
    said = "\n".join(f"- {escaped(line)}" for line in remarks(result))
    return "\n\n".join((f"# Utility of {escaped(source)}", *tables, said)) + "\n"
