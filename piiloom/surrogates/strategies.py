"""Strategies for repeating a person's surrogate: at all mentions, at none, or for runs of mentions.

``markov`` follows BRATsynthetic (Osborne et al. 2022): from one mention to the next the surrogate is kept with a fixed probability,
else replaced by a new one. So a name that de-identification missed does not stand out as the only one that fits no cluster.
"""

from __future__ import annotations

from piiloom.foundation.seeding import mix
from piiloom.surrogates.numbered_values import NOBODY
from piiloom.surrogates.persona_assignment.groups import OPEN
from piiloom.surrogates.planned_people import Cluster
from piiloom.surrogates.planning import PERSON, Plan, codes_of

_STEP = 0x57E9
_UNIT = float(1 << 64)
_CLOSE = 3  # code points between two parts of one name


def apart(plan: Plan, seed: int, keep: float) -> Plan:
    """Return *plan* with each person's mentions split into runs, each replaced as a person of its own.

    *keep* is the probability that a mention continues the run before it; 0 makes each mention a run. The runs depend on *seed*, the
    document's seed. Each run keeps the person's known gender.
    """
    clusters: list[Cluster] = []
    owners = list(plan.owners)
    runs: dict[int, int] = {}
    for number, owner in enumerate(plan.owners):
        if owner == NOBODY:
            continue
        source = plan.clusters[owner]
        if not source.size and not source.parts:  # whom the document does not name: there is nothing to split
            return plan
        named = plan.mentions[number].kind == PERSON  # otherwise a value that belongs to the person
        if named and not _goes_on(plan, number) and (owner not in runs or mix(seed, _STEP + number) / _UNIT >= keep):
            runs[owner] = len(clusters)
            clusters.append(Cluster(source.key, source.code, source.size or 2, []))
        at = runs.get(owner)
        if at is None:  # a value that comes before its owner's first mention
            at = runs[owner] = len(clusters)
            clusters.append(Cluster(source.key, source.code if source.size == 1 else OPEN, source.size or 2, []))
        if named:
            clusters[at].places.append(number)
        owners[number] = at
    return Plan(plan.text, plan.mentions, clusters, owners, plan.values, codes_of(clusters), plan.originals, plan.again)


def _goes_on(plan: Plan, number: int) -> bool:
    """Whether mention *number* is a further part of the name that the mention before it begins ("[FIRST_NAME] [LAST_NAME]")."""
    if not number or plan.owners[number - 1] != plan.owners[number]:
        return False
    before, mention = plan.mentions[number - 1], plan.mentions[number]
    return bool(before.kind == PERSON == mention.kind and before.form and mention.form and before.form != mention.form) and (
        mention.start - before.end <= _CLOSE
    )
