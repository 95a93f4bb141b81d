"""The style of the bank: what its writers are held to, found entry by entry. ``python -m taxonomy.bank_lint`` prints it.

A ``Finding`` names the rule, the file and line, and the entry; texts are not quoted.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from foundation.errors import ConfigError
from foundation.words import count_words, words
from foundation.yaml_files import read_document
from taxonomy.bank_checks import VALUE_SLOT, clause_key_faults, pattern_faults, scenario_faults, slot_name
from taxonomy.entity_types import Taxonomy, load_taxonomy
from taxonomy.grammar import all_expansions, count_range
from taxonomy.scenarios import Bank, Scenario, load_bank, shipped_sources
from taxonomy.wording import peripheral_slips, sentence_slips

SCENARIOS_PER_PAIR = 2
SITUATION_WORDS = (17, 25)
CLAUSE_WORDS = (6, 12)
FILLER_WORDS = (7, 12)
CLAUSES_PER_SUBTYPE = 8
LABEL_WORDS = (1, 3)
SUBTOPICS = (2, 4)
FEWEST = {"situation": 4, "draft": 2, "personal": 2, "abstracted": 4}

_EXPANSIONS_LOOKED_AT = 400
_TYPOGRAPHIC = re.compile("[‘’“”]")
_BRACKETS = re.compile(r"[<|>]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One breach: ``scenario`` is the scenario's id, the clause key or "fillers"; ``line`` is None where nothing is there to point at."""

    rule: str
    file: str
    line: int | None
    scenario: str
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.scenario}: {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where findings of one entry point to; a text whose own line is known points there."""

    name: str
    file: str
    line: int | None
    places: dict[str, tuple[str, int]]

    def finding(self, rule: str, message: str, text: str | None = None) -> Finding:
        file, line = self.places.get(text, (self.file, self.line)) if text is not None else (self.file, self.line)
        return Finding(rule=rule, file=file, line=line, scenario=self.name, message=message)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demands:
    """What patterns of one kind are held to: their slots, whether each stands exactly once, their fixed words, their wording."""

    slots: Sequence[str] = ()
    once: bool = False
    limits: tuple[int, int] | None = None
    slips: Callable[[Sequence[str]], Iterable[str]]


def lint_bank(bank: Bank, taxonomy: Taxonomy) -> list[Finding]:
    """Every breach of the bank's rules, missing pairs and clauses first, then in bank order."""
    places = _places()
    findings = list(_missing(bank, taxonomy))
    for scenario in bank.scenarios.values():
        file, _, line = scenario.origin.rpartition(":")
        findings.extend(_scenario(scenario, _Entry(scenario.id, file, int(line), places), taxonomy))
    clause = _Demands(slots=[VALUE_SLOT], once=True, limits=CLAUSE_WORDS, slips=peripheral_slips)
    filler = _Demands(limits=FILLER_WORDS, slips=peripheral_slips)
    for key, patterns in bank.clauses.items():
        entry = _Entry(key, "peripherals", None, places)
        findings.extend(entry.finding("type", fault) for fault in clause_key_faults(key, taxonomy))
        findings.extend(_peripherals(patterns, clause, entry))
    findings.extend(_peripherals(bank.fillers, filler, _Entry("fillers", "peripherals", None, places)))
    findings.extend(_repeats(bank, places))
    return findings


def _places() -> dict[str, tuple[str, int]]:
    """File and line of every text that ships."""
    places: dict[str, tuple[str, int]] = {}
    for source in shipped_sources():
        for text, line in read_document(source).text_lines().items():
            places.setdefault(text.strip(), (source.name, line))
    return places


def _missing(bank: Bank, taxonomy: Taxonomy) -> Iterator[Finding]:
    for pair in taxonomy.pairs:
        found = len(bank.for_pair(pair))
        if found < SCENARIOS_PER_PAIR:
            message = f"has {found} of at least {SCENARIOS_PER_PAIR} scenarios"
            yield Finding(rule="coverage", file="scenarios", line=None, scenario="+".join(pair), message=message)
    for entity_type in taxonomy.types.values():
        for subtype in entity_type.subtypes:
            found = len(bank.clauses_for(entity_type.name, subtype.name))
            if found < CLAUSES_PER_SUBTYPE:
                message = f"has {found} of at least {CLAUSES_PER_SUBTYPE} clauses"
                yield Finding(
                    rule="coverage", file="peripherals", line=None, scenario=f"{entity_type.name}.{subtype.name}", message=message
                )


def _scenario(scenario: Scenario, entry: _Entry, taxonomy: Taxonomy) -> Iterator[Finding]:
    prefix = "-".join(slot_name(name) for name in scenario.pair)
    if not re.fullmatch(rf"{re.escape(prefix)}\.[a-z0-9]+(-[a-z0-9]+)*", scenario.id):
        yield entry.finding("id", f"the id must be {prefix}.<slug>")
    for fault in scenario_faults(scenario.pair, scenario.uses, [*scenario.subjects, *scenario.rationale], taxonomy):
        yield entry.finding("type", fault)
    if set(scenario.rationale) != set(scenario.pair):
        yield entry.finding("rationale", "the rationale must speak of both types")
    if not SUBTOPICS[0] <= len(scenario.subtopics) <= SUBTOPICS[1]:
        yield entry.finding("label", f"has {len(scenario.subtopics)} subtopics, not {SUBTOPICS[0]} to {SUBTOPICS[1]}")
    for label in (scenario.topic, *scenario.subtopics):
        if not LABEL_WORDS[0] <= count_words(label) <= LABEL_WORDS[1]:
            yield entry.finding("label", f"a topic or subtopic has {count_words(label)} words, not 1 to {LABEL_WORDS[1]}", label)
    for part, fewest in FEWEST.items():
        found = len(getattr(scenario, part))
        if found < fewest:
            yield entry.finding("count", f"{part} has {found} of at least {fewest} patterns")
    yield from _situation(scenario, entry)
    yield from _questions(scenario, entry, taxonomy)


def _situation(scenario: Scenario, entry: _Entry) -> Iterator[Finding]:
    demands = _Demands(slots=[slot_name(name) for name in scenario.pair], once=True, limits=SITUATION_WORDS, slips=sentence_slips)
    openings: dict[tuple[str, ...], int] = {}
    for number, pattern in enumerate(scenario.situation):
        name = f"situation[{number}]"
        yield from _pattern(pattern, name, demands, entry)
        earlier = openings.setdefault(tuple(pattern.split()[:2]), number)
        if earlier != number:
            yield entry.finding("opening", f"{name} opens like situation[{earlier}]", pattern)
        if not re.search(r"[.!?]>*\Z", pattern):
            yield entry.finding("sentence", f"{name} does not end as a sentence", pattern)


def _questions(scenario: Scenario, entry: _Entry, taxonomy: Taxonomy) -> Iterator[Finding]:
    draft = _Demands(slots=[slot_name(name) for name in scenario.pair], slips=peripheral_slips)
    own = _Demands(slips=sentence_slips)
    for part, patterns, demands in (("draft", scenario.draft, draft), ("personal", scenario.personal, own)):
        for number, pattern in enumerate(patterns):
            yield from _pattern(pattern, f"{part}[{number}]", demands, entry)
    for number, pattern in enumerate(scenario.abstracted):
        faults = list(_pattern(pattern, f"abstracted[{number}]", own, entry))
        yield from faults
        if not any(fault.rule == "pattern" for fault in faults):
            yield from _abstracted(pattern, f"abstracted[{number}]", scenario, entry, taxonomy)


def _abstracted(pattern: str, name: str, scenario: Scenario, entry: _Entry, taxonomy: Taxonomy) -> Iterator[Finding]:
    if any(text.count("?") != 1 or not text.endswith("?") for text in all_expansions(pattern, _EXPANSIONS_LOOKED_AT)):
        yield entry.finding("question", f"{name} must end with its one question mark", pattern)
    text = _BRACKETS.sub(" ", pattern).casefold()
    used = set(words(text))
    for known in (taxonomy.types[type_name] for type_name in scenario.pair if type_name in taxonomy.types):
        told = sorted(used & known.type_words) or ([known.name] if re.search(rf"\b{known.name}\b", text) else [])
        if told:
            yield entry.finding("type word", f"{name} names the type {known.name!r} ({', '.join(told)})", pattern)


def _peripherals(patterns: tuple[str, ...], demands: _Demands, entry: _Entry) -> Iterator[Finding]:
    for number, pattern in enumerate(patterns):
        yield from _pattern(pattern, f"[{number}]", demands, entry)
        if re.search(r"[.!?;:,]>*\Z", pattern):
            yield entry.finding("sentence", f"[{number}] ends with punctuation", pattern)


def _pattern(pattern: str, name: str, demands: _Demands, entry: _Entry) -> Iterator[Finding]:
    """Faults of notation and slots; of length and wording only where the pattern can be read."""
    faults = list(pattern_faults(pattern, demands.slots, once=demands.once))
    yield from (entry.finding("pattern", f"{name}: {fault}", pattern) for fault in faults)
    if _TYPOGRAPHIC.search(pattern):
        yield entry.finding("apostrophe", f"{name} has typographic quotes", pattern)
    if faults:
        return
    if demands.limits:
        (low, high), limits = count_range(pattern), demands.limits
        if low < limits[0] or high > limits[1]:
            yield entry.finding("length", f"{name} has {low} to {high} fixed words, not {limits[0]} to {limits[1]}", pattern)
    for slip in demands.slips(all_expansions(pattern, _EXPANSIONS_LOOKED_AT)):
        yield entry.finding("wording", f"{name}: {slip}", pattern)


def _repeats(bank: Bank, places: dict[str, tuple[str, int]]) -> Iterator[Finding]:
    """Patterns that stand in the bank twice."""
    owners: dict[str, str] = {}
    for scenario in bank.scenarios.values():
        for pattern in (*scenario.situation, *scenario.draft, *scenario.personal, *scenario.abstracted):
            yield from _repeat(pattern, scenario.id, owners, places)
    for key, patterns in (*bank.clauses.items(), ("fillers", bank.fillers)):
        for pattern in patterns:
            yield from _repeat(pattern, key, owners, places)


def _repeat(pattern: str, owner: str, owners: dict[str, str], places: dict[str, tuple[str, int]]) -> Iterator[Finding]:
    if pattern in owners:
        file, line = places.get(pattern, ("bank", None))
        yield Finding(rule="repeat", file=file, line=line, scenario=owner, message=f"a pattern stands in {owners[pattern]} already")
    owners.setdefault(pattern, owner)


def main(arguments: list[str]) -> int:
    """Print the findings about the bank, with the user's own bank file if one is named; 1 when there are any."""
    try:
        bank = load_bank(Path(arguments[0]) if arguments else None)
    except ConfigError as error:
        sys.stdout.write(f"{error}\n")
        return error.exit_code
    findings = lint_bank(bank, load_taxonomy())
    rules = Counter(finding.rule for finding in findings)
    sys.stdout.writelines(f"{finding}\n" for finding in findings)
    sys.stdout.write(f"{len(bank.scenarios)} scenarios, {len(findings)} findings {dict(rules)}\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
