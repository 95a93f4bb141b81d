"""Whole runs with the real engine, as ``piiloom surrogate run`` does them, and what came out, document by document."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.pools import NamePools
from piiloom.pii_values.names.regions import REGIONS, Gender
from piiloom.surrogates.documents import Document, Mention
from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.inputs.reading import iter_documents
from piiloom.surrogates.persona_assignment.groups import FEMALE, MALE
from piiloom.surrogates.placeholders import Finder, FoundTags, Mapping, auto_mapping
from piiloom.surrogates.planning import DocumentPlan
from piiloom.surrogates.running import run_surrogates
from piiloom.surrogates.settings import EngineSettings

POOLS = NamePools(builtin())
SEED = 5


class WholeRun(NamedTuple):
    """``found`` is what the finder sees in each input text, ``plans`` what the engine made of that; records and maps are the files'."""

    source: Path
    out: Path
    mapping: Mapping
    report: dict[str, Any]
    documents: list[Document]
    found: list[FoundTags]
    plans: list[DocumentPlan]
    records: list[dict[str, Any]]
    maps: list[dict[str, Any]]

    def rows(self) -> Iterator[tuple[Document, FoundTags, DocumentPlan, dict[str, Any], dict[str, Any]]]:
        """All there is of each document."""
        return zip(self.documents, self.found, self.plans, self.records, self.maps, strict=True)

    def people(self) -> Iterator[tuple[Mention, int, str, dict[str, Any]]]:
        """Each mention of a person: the gender that the text told (a code of ``groups``), its key in the document, and its span."""
        for _, found, plan, record, _ in self.rows():
            for number, (mention, span) in enumerate(zip(found.mentions, record["spans"], strict=True)):
                if mention.kind == "person":
                    yield mention, plan.clusters[plan.owners[number]].code, key_of(mention), span


def key_of(mention: Mention) -> str:
    """What tells a person from others of the document."""
    single = mention.same == "mention" and not mention.index
    return f"at {mention.start}" if single else f"{mention.role} {mention.index} {mention.original}"


def learnt(inputs: SourceSettings) -> Mapping:
    """The mapping of ``--placeholders auto``."""
    return auto_mapping(document.text for document in iter_documents(inputs))


def whole_run(
    inputs: SourceSettings,
    out: Path,
    *,
    locale: str = "en_US",
    mapping: Mapping | None = None,
    workers: int = 1,
) -> WholeRun:
    """Learn the tags, unless a mapping is given, run, and read everything back."""
    mapping = mapping or learnt(inputs)
    factory = EngineFactory(settings=EngineSettings(seed=SEED, locale=locale), mapping=mapping)
    run_surrogates(inputs, out, factory, locale=locale, workers=workers)
    documents = list(iter_documents(inputs))
    finder, engine = Finder(mapping), factory()
    return WholeRun(
        source=inputs.path,
        out=out,
        mapping=mapping,
        report=json.loads((out / "report.json").read_text("utf-8")),
        documents=documents,
        found=[finder.find(document.text) for document in documents],
        plans=[engine.plan(document)[0] for document in documents],
        records=_lines(out / "records.jsonl"),
        maps=_lines(out / "map.jsonl"),
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def check_balance(people: dict[str, Any]) -> None:
    """Groups of each role are as equal as can be: the genders as far as the text leaves them open, the regions of each gender exactly."""
    assert sum(people["groups"].values()) == people["people"] == sum(people["gender_told_by_text"].values())
    assert sum(role["people"] for role in people["roles"].values()) == people["people"]
    for role in people["roles"].values():
        _check_role(role)


def _check_role(people: dict[str, Any]) -> None:
    told, total = people["gender_told_by_text"], people["people"]
    women, men = ([people["groups"][f"{gender} {region}"] for region in REGIONS] for gender in ("female", "male"))
    assert sum(women) + sum(men) == total == sum(told.values())
    lowest, highest = told.get("female", 0), total - told.get("male", 0)
    assert sum(women) in {min(max(half, lowest), highest) for half in (total // 2, (total + 1) // 2)}
    for counts in (women, men):
        assert max(counts) - min(counts) <= 1
    if lowest <= total // 2 <= highest:
        assert people["largest_difference"] == max(*women, *men) - min(*women, *men) == (1 if total % 10 else 0)


def check_one_to_one(run: WholeRun) -> None:
    """In each document an identity stands for one role and index (as the plan has them), and the other way round."""
    for document, _, plan, record, _ in run.rows():
        pairs = {
            (key_of(mention), span["value_id"])
            for mention, span in zip(plan.mentions, record["spans"], strict=True)
            if mention.kind == "person" and not mention.original
        }
        for side in (0, 1):
            twice = [one for one, count in Counter(pair[side] for pair in pairs).items() if count > 1]
            assert not twice, (document.id, twice, sorted(pair for pair in pairs if pair[side] in twice))


@cache
def given_names(gender: Gender) -> frozenset[str]:
    """All given names of a gender, casefolded."""
    countries = {country for region in REGIONS for country in POOLS.countries(region)}
    return frozenset(name.casefold() for country in countries for name in POOLS.given(country, gender))


def check_genders(run: WholeRun) -> int:
    """Whom the text calls a woman or a man bears a given name of that gender; how many written given names were looked at."""
    told = Counter(code for plan in run.plans for code in plan.codes)
    reported = run.report["engine"]["people"]["gender_told_by_text"]
    assert {"open": told[0], "female": told[FEMALE], "male": told[MALE]} == {"open": 0, "female": 0, "male": 0} | reported
    looked = 0
    for mention, code, _, span in run.people():
        text = span["text"].casefold()
        if code in {FEMALE, MALE} and not mention.plural and mention.form != "nick" and span.get("subtype") in {"first_name", "full_name"}:
            if "." in text.split()[0] or "," in text:  # initials; the family name first
                continue
            names = given_names("female" if code == FEMALE else "male")
            words = text.split(" ")
            assert any(" ".join(words[:count]) in names for count in range(1, len(words) + 1)), (code, span["text"])
            looked += 1
    return looked
