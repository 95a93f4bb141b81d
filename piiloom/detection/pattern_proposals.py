"""Have a model write patterns for entities from their definitions and examples; the trial of the catalogue accepts or refuses them.

A draft is a catalogue file whose entities have no patterns yet: ``source`` is the definition, ``generator`` gives the values. The model is
shown some values; the trial draws others. The patterns must be quick, and find nothing in documents of the benchmark. What passes is
written to a new file for a person to read. Nothing is added to the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import regex
import yaml

from piiloom.corpus.record import Record
from piiloom.detection.asking import ModelSession, all_of, cost_of
from piiloom.detection.benchmark.benchmark_options import BenchmarkOptions
from piiloom.detection.benchmark.making import BenchmarkCounts, make_benchmark
from piiloom.detection.catalogue_trial import NEGATIVES, POSITIVES, Trial, try_entity
from piiloom.detection.detector_settings import ModelSettings
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.calls import Fault, Lost
from piiloom.foundation.errors import ConfigError, DataError, OutputError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.seeding import derive_rng, digest
from piiloom.foundation.whole_files import drafted, output_errors
from piiloom.foundation.yaml_files import read_document
from piiloom.patterns.engine import PatternEngine
from piiloom.patterns.resolving import disjoint
from piiloom.patterns.writing import write_pattern
from piiloom.pii_values.entity_values.drawing import draw_entity_value
from piiloom.providers.protocol import JsonSchema, SamplingSettings
from piiloom.taxonomy.entities.catalogue_file import UNIVERSAL, CatalogueFile, Entity, EntityPattern, read_catalogue_file
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, load_catalogue

TEMPLATE: Final = "entity_patterns"  # the name of the template, of the schema, and of the stage in the journal
_SHOWN: Final = 5  # values that the model sees
_TOKENS: Final = 2048
_PROBE: Final = 2_000  # characters of a text on which a pattern must be quick
_PROBE_S: Final = 0.1  # processor time for one such text; good patterns take less than a hundredth of it
_DOCUMENTS: Final = 48  # of the benchmark, which have no value of the entity
_MOST_WRONG: Final = 2  # matches in them, since a number of another kind may look the same
_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_PATTERN: Final = {
    "pattern": {"type": "string"},
    "score": {"type": "number"},
    "ignore_case": {"type": "boolean"},
    "preceded_by": _TEXTS,
}
SCHEMA: Final[JsonSchema] = {
    "type": "object",
    "properties": {
        "patterns": {"type": "array", "items": {"type": "object", "properties": _PATTERN, "required": ["pattern", "score"]}},
        "context": _TEXTS,
        "near_misses": _TEXTS,
    },
    "required": ["patterns", "context", "near_misses"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The ``entry`` of a catalogue file with patterns that passed their ``trial``."""

    entry: Mapping[str, Any]
    trial: Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternProposals:
    """What came of each draft, by the id of the entity, and what all sessions of the run asked and paid."""

    found: Mapping[str, Proposal | Lost]
    run_id: str
    totals: CallTotals

    @property
    def usable(self) -> dict[str, Proposal]:
        """The proposals that passed."""
        return {name: one for name, one in self.found.items() if isinstance(one, Proposal)}

    def to_json(self) -> dict[str, Any]:
        """Return the outcome of each draft and the cost as JSON values."""
        rows = [
            {"id": name, "proposed": False, "reason": one.code, "fault": one.message}
            if isinstance(one, Lost)
            else {"id": name, "proposed": True, "patterns": [pattern["pattern"] for pattern in one.entry["patterns"]]}
            for name, one in self.found.items()
        ]
        return {"entities": rows, "cost": cost_of(self.run_id, self.totals)}


def propose_patterns(file: Path, out: Path, model: ModelSettings, *, force: bool = False) -> PatternProposals:
    """Have patterns written for the entities of *file* that have none, and write those that pass their trial, in the same form, to *out*.

    Raises ``ConfigError`` for a faulty file, ``DataError`` if it has no draft or no pattern passes, ``OutputError`` if *out* is there
    already and *force* is not set, and errors of providers and stores. Replies that were paid for are kept in any case.
    """
    source, data = read_catalogue_file(file), read_document(file).data
    drafts = [one for one in source.entities if not one.patterns]
    if not drafts:
        raise DataError("all entities have patterns", where=str(file), remedy="Leave out the patterns of those that a model shall write")
    for one in drafts:
        if one.generator is None:
            raise DataError(f"{one.id} has no generator, so its patterns cannot be tried", where=one.where, remedy="Give masks or values")
    if out.exists() and not force:
        raise OutputError("the file is there already", where=str(out), remedy="Name another one with --out, or use --force")
    run = model.model_copy(update={"run": digest("entities propose", data)})
    proposals = run_in_own_loop(lambda: _asked(source, data, drafts, run))
    if not proposals.usable:
        reasons = ", ".join(f"{name}: {one.code}" for name, one in proposals.found.items() if isinstance(one, Lost))
        raise DataError(f"no proposal passed ({reasons})", where=str(file), remedy="Correct the definition, or give more look-alikes")
    _write(out, data, proposals.usable, f"{model.provider} {model.name}")
    return proposals


async def _asked(source: CatalogueFile, data: Mapping[str, Any], drafts: Sequence[Entity], model: ModelSettings) -> PatternProposals:
    session = await ModelSession.open(model, (TEMPLATE,), kind="propose")
    finished = False
    try:
        answers = await all_of(
            session.asker.ask(
                TEMPLATE,
                _variables(source, draft, model.seed),
                item_id=draft.id,
                read=_judge(source, data, draft, model.seed),
                schema=SCHEMA,
                settings=SamplingSettings(max_output_tokens=_TOKENS),
            )
            for draft in drafts
        )
        finished = True
    finally:
        await session.close(finished=finished)
    found = dict(zip((one.id for one in drafts), answers, strict=True))
    return PatternProposals(found=found, run_id=session.run_id, totals=session.channel.calls.totals)


def _locale(source: CatalogueFile) -> str:
    return LOCALES[0] if source.locale == UNIVERSAL else source.locale


def _variables(source: CatalogueFile, draft: Entity, seed: int) -> dict[str, Any]:
    """Return the variables of the prompt. Of listed values only half are shown, so that a list of them is no pattern that passes."""
    listed = draft.generator.values if draft.generator is not None else ()
    rng = derive_rng("entities propose", seed, draft.id)
    values = listed[: max(1, len(listed) // 2)] if listed else [draw_entity_value(draft, _locale(source), rng) for _ in range(_SHOWN)]
    return {
        "name": draft.name,
        "native": draft.native,
        "definition": draft.source,
        "language": source.language,
        "locale": source.locale,
        "examples": list(values[:_SHOWN]),
        "near_misses": list(draft.near_misses),
    }


def _judge(source: CatalogueFile, data: Mapping[str, Any], draft: Entity, seed: int) -> Callable[[Any], Proposal]:
    """Return the function that makes a proposal of a reply. It raises ``Fault`` for patterns that are malformed, slow or wrong."""

    def judged(reply: Any) -> Proposal:
        entry = _entry(data["entities"][draft.id], reply)
        entity = _read(data, draft.id, entry)
        values = [draw_entity_value(draft, _locale(source), derive_rng("entities propose", seed, number)) for number in range(_SHOWN)]
        check_speed(entity, values)
        catalogue = load_catalogue(_locale(source), [replace(source, entities=(entity,))], unconfirmed=True)
        alone = PatternEngine(catalogue, backend="regex", entity_ids=frozenset({draft.id}))
        for engine in (alone, PatternEngine(catalogue, backend="regex")):  # most faults show without the rest of the catalogue
            trial = try_entity(catalogue.entities[draft.id], engine, seed=seed)
            if not trial.passed:
                raise Fault("trial", _told(trial))
        wrong = _wrong_matches(alone)
        if len(wrong) > _MOST_WRONG:
            shown = ", ".join(map(repr, dict.fromkeys(wrong[:3])))
            raise Fault("too_wide", f"{len(wrong)} matches in texts that have no such value: {shown}")
        return Proposal(entry=entry, trial=trial)

    return judged


@cache
def _other_records(locale: str) -> tuple[Record, ...]:
    """Return documents of the benchmark in *locale*; none for a locale that it lacks."""
    if locale not in LOCALES:
        return ()
    options = BenchmarkOptions(locales=(locale,), documents=_DOCUMENTS, lengths=("tiny", "short", "medium"))
    return tuple(one.record for one in make_benchmark(options, BenchmarkCounts()))


def _wrong_matches(engine: PatternEngine) -> list[str]:
    """Return the matches in documents of the benchmark that are no value of another entity."""
    return [
        record.context[one.start : one.end]
        for record in _other_records(engine.catalogue.locale)
        for one in disjoint(engine.find(record.context))
        if not any(span.start < one.end and one.start < span.end for span in record.spans)
    ]


def _entry(draft: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of *draft* with the patterns, context words and look-alikes of *reply* besides its own."""
    entry = deepcopy(dict(draft))
    entry["structured"] = True
    entry["patterns"] = [
        {
            "pattern": one["pattern"],
            "score": one["score"],
            **({"case": "ignore"} if one.get("ignore_case") else {}),
            **({"preceded_by": one["preceded_by"]} if one.get("preceded_by") else {}),
        }
        for one in reply["patterns"]
    ]
    for key in ("context", "near_misses"):
        entry[key] = list(dict.fromkeys([*entry.get(key, []), *reply[key]]))
    return entry | {"confirmed": False}


def _read(data: Mapping[str, Any], name: str, entry: Mapping[str, Any]) -> Entity:
    """Return the entity as a catalogue file with *entry* defines it. Raises ``Fault`` with what the reader of these files refuses."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "proposal.yaml")
        path.write_text(_dumped({**data, "entities": {name: entry}}), encoding="utf-8")
        try:
            return read_catalogue_file(path).entities[0]
        except ConfigError as error:
            raise Fault("malformed", error.message) from None


def check_speed(entity: Entity, values: Sequence[str]) -> None:
    """Match the patterns of *entity* on long texts that nearly match. Raises ``Fault`` for one that exceeds its time on a text."""
    for number, pattern in enumerate(entity.patterns):
        expression = regex.compile(write_pattern(pattern).exact)
        for probe in _probes(values, pattern):
            try:
                for _ in expression.finditer(probe, timeout=_PROBE_S):
                    pass
            except TimeoutError:
                what = f"pattern {number + 1} takes more than {_PROBE_S} s on a text of {_PROBE:,} characters that nearly matches"
                raise Fault("slow", f"{what}; use fewer and bounded repeats that share no characters") from None


def _probes(values: Sequence[str], pattern: EntityPattern) -> Iterator[str]:
    """Yield values repeated with and without their last character, and long runs of each character, behind a label if there is one.

    The text of the pattern is at the end: an engine gives up at once on a text without the characters that a match must have.
    """
    before = f"{pattern.preceded_by[0]}: " if pattern.preceded_by else ""
    pieces = dict.fromkeys([*values, *(one[:-1] for one in values), *"".join(values), *"a1A ", "a1", "1 ", "1-"])
    for piece in filter(None, pieces):
        yield f"{before}{(piece * (_PROBE // len(piece) + 1))[:_PROBE]} {pattern.pattern}"


def _told(trial: Trial) -> str:
    """Return the faults of *trial* for the model."""
    counts = f"{trial.found} of {trial.positives} values were found, and {trial.refused} of {trial.negatives} look-alikes refused"
    few = "" if trial.negatives >= NEGATIVES and trial.positives >= POSITIVES else f"; give more near_misses, {NEGATIVES} are needed"
    shown = "".join(f"; {one.kind}: {one.text!r}" for one in trial.failures[:3])
    return f"{counts}{few}{shown}"


def _write(out: Path, data: Mapping[str, Any], usable: Mapping[str, Proposal], author: str) -> None:
    entities = {name: dict(one.entry) for name, one in usable.items()}
    head = f"# Patterns written by {author} that passed the trial of the catalogue. No person has read them yet.\n"
    with output_errors(out), drafted(out) as file:
        file.write((head + _dumped({**data, "entities": entities})).encode())


def _dumped(data: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(data), allow_unicode=True, sort_keys=False, width=10_000)
