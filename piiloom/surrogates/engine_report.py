"""The engine's part of ``report.json``: groups, consistency, leftovers and leakage, from counts of single documents."""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Final

from piiloom.pii_values.names.pools import NamePools
from piiloom.pii_values.names.regions import Gender
from piiloom.pii_values.rewriting.calendars import told_by_text
from piiloom.surrogates.documents import Mention, Placed, Replaced
from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.known_names import unaccented
from piiloom.surrogates.leakage.residual import residuals
from piiloom.surrogates.outputs.report_page import by_count
from piiloom.surrogates.persona_assignment.groups import CODES, GENDERS, GROUPS, NO_GROUP, OPEN, role_name, spread_group_count
from piiloom.surrogates.placeholders.mapping import Mapping as TagMapping
from piiloom.surrogates.planning import DocumentPlan
from piiloom.surrogates.same_values import known_report
from piiloom.surrogates.settings import EngineSettings

_ENOUGH: Final = 400  # most entries in one list of the report
_MOST_NAMES: Final = 4000  # given names per country and gender that the residual scan knows
_GENDER_NAMES: Final[dict[int, str]] = {CODES["female"]: "female", CODES["male"]: "male", OPEN: "open"}


class EngineStatistics:
    """Counts documents, and makes the report of their sums.

    *names_from* describes the names index. *given_names* (folded name -> gender) are what the residual scan knows; None: no scan.
    *miss_rates* (0 to 1) are the rates for which leakage is estimated. *by_model* is what is reported of a model's values.
    """

    def __init__(
        self,
        settings: EngineSettings,
        *,
        names_from: str,
        given_names: Mapping[str, Gender] | None,
        miss_rates: tuple[float, ...] = (),
        by_model: Mapping[str, Any] | None = None,
        mapping: TagMapping | None = None,
    ) -> None:
        self._settings = settings
        self._names_from = names_from
        self._given_names = given_names
        self._country = settings.country
        self._miss_rates = miss_rates
        self._by_model = by_model
        self._rules = {rule.name: rule for rule in mapping.rules} if mapping is not None else {}
        self._spans = mapping is None
        self._groups: dict[str, object] = {}

    def note_groups(self, assigned: bytes) -> None:
        """Take over the groups of the corpus from a result of ``Engine.assign``."""
        self._groups = group_report(assigned, own_names=self._settings.own_names)

    def tallies(self, plan: DocumentPlan, done: Replaced) -> dict[str, int]:
        """Return the counts of one document, to be added up over all."""
        sizes, whole, untold = [], True, 0
        for number, cluster in enumerate(plan.clusters, 1):
            places = cluster.places
            if not places:
                continue
            sizes.append(len(places))
            value_id = f"p{number}"
            for place in places:
                whole = whole and done.placed[place][7] == value_id
            untold += len(places) == 1 and _is_untold(plan.mentions[places[0]])
        tallies = {
            "documents": 1,
            "people": len(sizes),
            "mentions": sum(sizes),
            "repeated": sum([size > 1 for size in sizes]),
            "torn": 0 if whole else _torn(plan, done),
            "untold": untold,
        }
        for mention in plan.mentions:
            key = _rule_key(mention[2], mention[10])
            tallies[key] = tallies.get(key, 0) + 1
        if plan.originals:
            tallies["unmoved"] = sum(map(_is_unmoved, plan.mentions, done.placed, repeat(done.text)))
        if self._miss_rates:
            tallies.update(self._leaks(sizes))
        return tallies

    def _leaks(self, sizes: Sequence[int]) -> dict[str, int]:
        """Return how probably a document with so many mentions of each of its people leaks, by miss rate and strategy."""
        from piiloom.surrogates.leakage.attacks import STRATEGIES, leaking_shares  # noqa: PLC0415 - few runs ask, and it loads numpy

        tallies: dict[str, int] = {}
        for rate in self._miss_rates:
            shares = leaking_shares([sizes], rate, keep=self._settings.keep)
            tallies |= {f"leak {rate} {name}": shares[name] for name in STRATEGIES}  # type: ignore[misc]  # counters add up floats as well
        return tallies

    def leftovers(self, done: Replaced) -> dict[str, int]:
        """Return what still looks personal in one document, counted by what it looks like; nothing if it is not to be scanned."""
        if self._given_names is None:
            return {}
        found = residuals(done.text, done.placed, given_names=self._given_names, region=self._country)
        return Counter([f"residual {one.why}" for one in found]) if found else {}

    def report(self, tallies: Counter[str]) -> dict[str, object]:
        """Return the entries for the report, from the summed *tallies* of all documents."""
        documents = max(1, tallies["documents"])
        report: dict[str, object] = {
            "strategy": self._settings.strategy,
            "scope": self._settings.scope,
            "names": self._names_from,
            "people": self._groups,
            "consistency": {
                "people_in_documents": tallies["people"],
                "mentions_of_people": tallies["mentions"],
                "people_named_more_than_once": tallies["repeated"],
                "people_torn_or_mixed": tallies["torn"],
                "taken_for_somebody_new": tallies["untold"],
            },
        }
        if tallies["unmoved"]:
            report["known_dates_left_as_they_were"] = tallies["unmoved"]
        report["found_by_rule"] = self._found(_named(tallies, "rule"))
        if self._spans:
            report["equal_to_their_originals"] = _named(tallies, "equal")
            report["known_originals"] = known_report(self._settings.same_value, tallies)
        if self._by_model is not None:
            report["by_model"] = self._by_model
        if self._given_names is not None:
            report["looks_like_personal_information_still"] = _named(tallies, "residual")
        if self._miss_rates:
            from piiloom.surrogates.leakage.attacks import STRATEGIES  # noqa: PLC0415 - as above

            report["leakage"] = [
                {"miss_rate": rate, **{name: round(tallies[f"leak {rate} {name}"] / documents, 4) for name in STRATEGIES}}
                for rate in self._miss_rates
            ]
        return report

    def _found(self, counts: Mapping[str, int]) -> list[dict[str, object]]:
        """Return what each rule of the mapping found, and what was found without one (confidence None), by kind."""
        found: list[dict[str, object]] = []
        known = set()
        for key, count in counts.items():
            kind, _, name = key.partition(" ")
            rule = self._rules.get(name)
            known.add(name)
            found.append({"pattern": name, "kind": kind, "confidence": rule and rule.confidence, "count": count, "use": True})
        for name, rule in self._rules.items():
            if name not in known and not rule.use:
                found.append({"pattern": name, "kind": rule.kind, "confidence": rule.confidence, "count": rule.count, "use": False})
        return found


def group_report(assigned: bytes, *, own_names: bool = False) -> dict[str, object]:
    """Summarize *assigned* for the report: people by group, role and known gender, and the largest difference between two groups.

    ``own_names``: everybody has a name of the texts' own country, so groups differ by gender only.
    """
    groups, _, _, _, documents, codes_told, told, numbers, names = marshal.loads(assigned)  # noqa: S302 - written by ``Engine.assign``
    roles: dict[int, list[str]] = {}
    for name, number in names.items():
        roles.setdefault(number, []).append(role_name(name))
    by_role: dict[int, Counter[int]] = {number: Counter() for number in roles}
    for (number, group), count in Counter(zip(numbers, groups, strict=True)).items():
        by_role[number][group] = count
    codes: dict[int, Counter[int]] = {number: Counter() for number in roles}
    for (number, code), count in told.items():
        codes[number][code] = count
    largest = sorted(roles, key=lambda number: (-by_role[number].total(), number))[:_ENOUGH]
    return {
        **_by_group(Counter(groups), sum(codes.values(), Counter()), own_names=own_names),
        **_of_documents(documents, codes_told, own_names=own_names),
        "roles": {
            roles[number][0] if len(roles[number]) == 1 else "others": _by_group(by_role[number], codes[number], own_names=own_names)
            for number in largest
        },
    }


def _of_documents(groups: bytes, codes: bytes, *, own_names: bool) -> dict[str, object]:
    """Return what is reported of documents that have a group each; nothing if they have none."""
    dealt = [(group, code) for group, code in zip(groups, codes, strict=True) if group != NO_GROUP]
    found = _by_group(Counter(group for group, _ in dealt), Counter(code for _, code in dealt), own_names=own_names)
    return {"documents": {"documents": found.pop("people"), **found}} if dealt else {}


def _by_group(counts: Counter[int], told: Counter[int], *, own_names: bool) -> dict[str, object]:
    named: Counter[str] = Counter()
    for number, (gender, region) in enumerate(GROUPS):
        named[gender if own_names else f"{gender} {region}"] += counts[number]
    return {
        "people": counts.total(),
        "groups": dict(named),
        "largest_difference": spread_group_count(named),
        "gender_told_by_text": {_GENDER_NAMES[code]: count for code, count in sorted(told.items())},
    }


def known_given_names(pools: NamePools, country: str) -> dict[str, Gender]:
    """Return the genders of folded given names of *country*, the US and Great Britain, for the scan and for known names."""
    return {
        unaccented(name): gender
        for place in reversed(dict.fromkeys((country, "US", "GB")))  # the last entry of a name wins: the own country's
        for gender in reversed(GENDERS)
        for name in reversed(pools.given(place, gender)[:_MOST_NAMES])
    }


@lru_cache(maxsize=1 << 14)
def _rule_key(kind: str, rule: str) -> str:
    return f"rule {kind} {rule}"


def _torn(plan: DocumentPlan, done: Replaced) -> int:
    """Count people whose mentions have several value ids, or a value id that others have, too. Anything but 0 is a fault in the engine.

    There are none where each person's mentions have the value id of their cluster, as nearly always: that is told without many sets.
    """
    names = [{done.placed[number].value_id for number in cluster.places} for cluster in plan.clusters if cluster.places]
    seen = Counter(value_id for ids in names for value_id in ids)
    return sum(len(ids) != 1 or any(seen[value_id] > 1 for value_id in ids) for ids in names)


def _is_untold(mention: Mention) -> bool:
    """Whether somebody was taken for new at their only *mention* because the tag tells neither role nor number ("[NAME]").

    Some of them may be one person in truth, which nothing in the text tells.
    """
    return mention.same == "mention" and not mention.index and not mention.original


def _is_unmoved(mention: Mention, placed: Placed, text: str) -> bool:
    """Whether a known date is in the output as it was: it cannot be read, or its unit is longer than the shift. "Tomorrow" is no date."""
    if not mention.original or KINDS[mention.kind].entity_type != "datetime" or text[placed.new_start : placed.new_end] != mention.original:
        return False
    return not told_by_text(mention.original) and mention.kind != "duration"


def _named(tallies: Counter[str], kind: str) -> dict[str, int]:
    """Return the tallies whose key begins with *kind*, by the rest of the key, most frequent first."""
    found = {key[len(kind) + 1 :]: count for key, count in tallies.items() if key.startswith(f"{kind} ")}
    return dict(list(by_count(found).items())[:_ENOUGH])
