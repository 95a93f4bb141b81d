"""Whether one person keeps one surrogate: always, never, or for runs of mentions.

``markov`` follows the idea of BRATsynthetic (Osborne et al. 2022): from mention to mention the surrogate is kept with a
probability, else replaced by a new one, so that a name which de-identification missed does not stand out as the only one that
fits no cluster.
"""

from __future__ import annotations

from piiloom.surrogates.casting.groups import OPEN
from piiloom.surrogates.planning import NOBODY, PERSON, Cluster, Plan, codes_of
from piiloom.surrogates.seeds import mix

_STEP = 0x57E9
_UNIT = float(1 << 64)


def apart(plan: Plan, seed: int, keep: float) -> Plan:
    """*plan* with each person's mentions cut into runs that are cast on their own; ``keep`` 0 makes each mention a run.

    Which runs there are depends on *seed*, which is that of the document. Gender goes with the run, since the text told it of
    the person.
    """
    clusters: list[Cluster] = []
    owners = list(plan.owners)
    runs: dict[int, int] = {}
    for number, owner in enumerate(plan.owners):
        if owner == NOBODY:
            continue
        source = plan.clusters[owner]
        named = plan.mentions[number].kind == PERSON  # else it is a value of the person's
        if named and (owner not in runs or mix(seed, _STEP + number) / _UNIT >= keep):
            runs[owner] = len(clusters)
            clusters.append(Cluster(source.key, source.code, source.size or 2, []))
        at = runs.get(owner)
        if at is None:  # a value that stands before its owner's first mention
            at = runs[owner] = len(clusters)
            clusters.append(Cluster(source.key, source.code if source.size == 1 else OPEN, source.size or 2, []))
        if named:
            clusters[at].places.append(number)
        owners[number] = at
    return Plan(plan.text, plan.mentions, clusters, owners, plan.values, codes_of(clusters), plan.originals, plan.again)
