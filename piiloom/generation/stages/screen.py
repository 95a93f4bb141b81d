"""Stage 9: the gates over finished records.

In: items with spans, in plan order. Out: records, or rejects with the gate's reason code. Since two gates compare
records with each other, this stage sees items strictly by plan index, whatever the concurrency before it.
"""

from __future__ import annotations

from piiloom.corpus.record import CONTRAST_GROUP, Provenance, Record, RecordPlan
from piiloom.corpus.store.judgements import Judgement
from piiloom.foundation.seeding import digest
from piiloom.generation.item import Item
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import run_digest
from piiloom.generation.stage import ItemRejected
from piiloom.prompts.library import open_library
from piiloom.screening.gates import ANYBODYS, Expectations, ExpectedValue, TrainedDetector, trained_detector
from piiloom.screening.screen import default_screen
from piiloom.tagging.model_folder import FAMILY
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.scenarios import Bank, Scenario

NAME = "screen"
RECORD_ID_LENGTH = 24


class Screening:
    """Turns items into records and checks them with the screening gates."""

    def __init__(self, config: RunConfig, model: str | None, templates: tuple[str, ...], bank: Bank | None) -> None:
        self._config, self._model, self._bank = config, model, bank
        self._detector = _detector(config)
        self._gates = default_screen(
            config.taxonomy(),
            repeated_questions=config.recipe == "story",
            common_words=frozenset() if config.recipe == "staged" else ANYBODYS,
            detector=self._detector if config.on_unlisted == "reject" else None,
            locale=get_locale(config.locale),
        )
        self._digest = run_digest(config)
        self._language = get_locale(config.locale).language
        self._templates = tuple((t.id, t.sha256) for t in map(open_library(config.prompts).find, templates))

    def prime(self, record: Record) -> None:
        """Add a record accepted earlier in this run to the memory of the gates, which detect duplicates."""
        self._gates.prime(record)

    def accept(self, item: Item) -> Record:
        """Return the record of *item*; raises ``ItemRejected`` with the code of the first gate that refuses it."""
        record = self._record(item)
        verdict = self._gates.check(record, self._expected(item))
        if verdict is not None:
            raise ItemRejected(verdict.code, verdict.detail, stage=NAME, last_reply=record.context)
        return record

    def flags(self, record: Record) -> list[Judgement]:
        """Return what a trained detector finds in the accepted *record* outside of its spans, for annotators to check."""
        if self._detector is None:
            return []
        detector = self._detector
        return [
            Judgement(
                kind="unlisted",
                value_id=f"[{found.start}, {found.end})",
                span_id="",
                planned="nothing",
                score=found.score,
                verdict=found.entity_type,
                agrees=False,
                reason=detector.told(found),
                provider=FAMILY,
                model=detector.name,
            )
            for found in detector.unlisted(record)
        ]

    def _record(self, item: Item) -> Record:
        plan, passage, question = item.plan, item.passage, item.question
        if passage is None or question is None:
            raise ItemRejected("out_of_order", "the item has not been through all stages", stage=NAME)
        record_id = digest(self._digest, self._config.seed, plan.index, item.refused)[:RECORD_ID_LENGTH]
        return Record(
            id=record_id,
            locale=plan.locale,
            context=passage.text,
            question=question.abstracted,
            spans=item.spans,
            plan=self._record_plan(item),
            group_keys=_group_keys(item),
            provenance=Provenance(
                stage=NAME, provider=self._config.provider, model=self._model, templates=self._templates, seed=self._config.seed
            ),
        )

    def _record_plan(self, item: Item) -> RecordPlan:
        plan = item.plan
        scenario = self._bank.scenarios[plan.scenario] if self._bank and plan.scenario else None
        rationale = _rationale(scenario, item) if scenario else item.rationale
        return RecordPlan(
            pair=plan.pair,
            topic=plan.topic,
            subtopic=plan.subtopic,
            scenario=plan.scenario,
            rationale=rationale,
            register=plan.register,
            cue_level=plan.cue_level,
            lookalikes=tuple(sorted({kind for kind, _ in item.lookalikes})),
        )

    def _expected(self, item: Item) -> Expectations:
        plan = item.plan
        surfaces = {span.value_id: span.text_in(item.passage.text) for span in reversed(item.spans)} if item.passage else {}
        values = tuple(
            ExpectedValue(id=v.id, text=surfaces.get(v.id, v.text), entity_type=v.entity_type, relevance=v.relevance) for v in item.values
        )
        # The length of a case's text depends on its number of values; the stage post has checked it already.
        low, high = (1, None) if item.case is not None else plan.context_words
        high_types = tuple(dict.fromkeys(v.entity_type for v in item.high_values()))
        return Expectations(
            pair=plan.pair if values or plan.share is None else (),  # a plain text is about no pair
            values=values,
            min_words=low,
            max_words=high,
            language=self._language,
            high_types=high_types,
            lookalikes=tuple(text.casefold() for _, text in item.lookalikes),
        )


def _detector(config: RunConfig) -> TrainedDetector | None:
    return None if config.screen_model is None else trained_detector(config.screen_model, threshold=config.screen_threshold)


def _rationale(scenario: Scenario, item: Item) -> str:
    """Return why each type that matters here changes the answer: "health: …; occupation: …"."""
    reasons = {**scenario.rationale, **{kind: also.why for kind, also in scenario.also.items()}}
    return "; ".join(f"{kind}: {reasons[kind]}" for kind in dict.fromkeys(v.entity_type for v in item.high_values()) if kind in reasons)


def _group_keys(item: Item) -> tuple[str, ...]:
    """Return the keys of groups that must not be split between train and test: same story, scenario or triplet, and same text."""
    plan = item.plan
    if plan.told is not None:
        grown_from = f"story:{plan.told.story}"
    else:
        grown_from = f"scenario:{plan.scenario}" if plan.scenario else f"triplet:{'+'.join(plan.pair)}/{plan.topic}/{plan.subtopic}"
    if plan.share is None or item.passage is None:
        return (grown_from,)
    return grown_from, f"{CONTRAST_GROUP}{digest(plan.share.seed, item.passage.text)[:RECORD_ID_LENGTH]}"
