"""Write a result to a folder: ``answers.jsonl``, ``comparisons.jsonl``, ``utility.md`` and ``utility.json``.

All files are written under temporary names first, and ``utility.json`` is renamed last, so a folder that has it is complete. The two JSONL
files hold corpus text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.native_rows import row_line
from piiloom.evaluation.utility.cases import Case
from piiloom.evaluation.utility.disclosure import told_share
from piiloom.evaluation.utility.evaluating import UtilityResult
from piiloom.evaluation.utility.outcomes import Outcomes, Verdict
from piiloom.evaluation.utility.stand_in import NAME, kept_share
from piiloom.evaluation.utility.tables import UtilityTable, remarks, utility_tables
from piiloom.execution.calls import Lost
from piiloom.foundation.markdown import escaped
from piiloom.foundation.whole_files import write_folder

FIGURES_FILE: Final = "utility.json"
TABLE_FILE: Final = "utility.md"
ANSWERS_FILE: Final = "answers.jsonl"
COMPARISONS_FILE: Final = "comparisons.jsonl"


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


def _said(case: Case, variant: str, outcomes: Outcomes, protected: list[str]) -> Json:
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


def _verdict(case: Case, order: tuple[str, str], verdicts: Mapping[tuple[str, str, str], Verdict | Lost]) -> Json | None:
    first, second = order
    said = verdicts.get((case.id, case.first_alike(first), case.first_alike(second)))
    if said is None:
        return None
    place: Json = {"first": first, "second": second}
    if isinstance(said, Verdict):
        named = {"first": first, "second": second, "tie": "tie"}[said.better]
        return place | {"position": said.better, "better": named, "reason": said.reason}
    return place | {"error": _error(said)}


def _error(lost: Lost) -> dict[str, Any]:
    return {"code": lost.code, "message": lost.message, "attempts": lost.attempts, "last_reply": lost.last_reply}


def as_markdown(result: UtilityResult, source: str) -> str:
    """Return the tables and remarks as Markdown."""
    tables = "\n\n".join(_table(table) for table in utility_tables(result))
    said = "\n".join(f"- {escaped(line)}" for line in remarks(result))
    return f"# Utility of {escaped(source)}\n\n{tables}\n\n{said}\n"


def _table(table: UtilityTable) -> str:
    lines = [table.columns, tuple("---" if place == 0 else "---:" for place in range(len(table.columns))), *table.rows]
    drawn = "\n".join(f"| {' | '.join(cell if number == 1 else escaped(cell) for cell in line)} |" for number, line in enumerate(lines))
    return f"**{escaped(table.title)}**\n\n{drawn}"
