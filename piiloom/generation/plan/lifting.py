"""Lift rejects so that items are tried again, by plan index or reason code. If their pair was given up, it is asked about again, too."""

from __future__ import annotations

import json

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import RejectRow, RunRow, drop_shared_results, lift_rejects, load_rejects, load_shared_results
from piiloom.foundation.errors import UsageError
from piiloom.generation.plan.planning import pair_order, text_of
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.stages import subtopics, topics
from piiloom.generation.stages.subtopics import topic_key
from piiloom.generation.stages.topics import pair_key
from piiloom.taxonomy.entity_types import Pair


def lift_named(store: Store, run: RunRow, names: str) -> int:
    """Lift the rejects that *names* lists, so that they are tried again; returns how many items, pairs and topics were lifted.

    *names*: plan indexes and reason codes, separated by commas. Raises ``UsageError`` listing the run's reason codes if none matches.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    indexes, codes = {int(name) for name in wanted if name.isdecimal()}, {name for name in wanted if not name.isdecimal()}
    config = make_config(run.config)
    rejects, lost, pairs = load_rejects(store, run.id), lost_pairs(store, run), pair_order(config)
    items = [row for row in rejects if row.plan_index is not None and (row.plan_index in indexes or row.reason_code in codes)]
    keys = _keys_named(rejects, codes, lost)
    for row in items:
        if row.stage in (topics.NAME, subtopics.NAME) and row.plan_index is not None:
            keys.update(lost.get(pairs[text_of(row.plan_index, config) % len(pairs)], ()))
    if not items and not keys:
        known = sorted({row.reason_code for row in rejects if row.plan_index is not None or row.key in _all_keys(lost)})
        there = f"Its reason codes: {', '.join(known)}" if known else "It has no rejects"
        raise UsageError(f"run {run.id} has no rejected item {names!r}", where="--retry", remedy=there)
    with store.transaction():
        drop_shared_results(store, run.id, sorted(keys))
        lift_rejects(store, run.id, keys=sorted(keys), indexes=[row.plan_index for row in items if row.plan_index is not None])
    return len(items) + len(keys)


def lost_pairs(store: Store, run: RunRow) -> dict[Pair, tuple[str, ...]]:
    """Return the pairs for which no item can be planned, each with the keys that were given up: its own, or those of all its topics."""
    listed = {key: json.loads(text) for key, text in load_shared_results(store, run.id, topics.NAME).items()}
    threads = {key: json.loads(text) for key, text in load_shared_results(store, run.id, subtopics.NAME).items()}
    lost: dict[Pair, tuple[str, ...]] = {}
    for pair in pair_order(make_config(run.config)):
        names = listed.get(pair_key(pair))
        if names is None:
            continue
        keys = [topic_key(pair, name) for name in names]
        if not any(threads.get(key, ["not asked yet"]) for key in keys):
            lost[pair] = tuple(keys) or (pair_key(pair),)
    return lost


def _keys_named(rejects: list[RejectRow], codes: set[str], lost: dict[Pair, tuple[str, ...]]) -> set[str]:
    known = _all_keys(lost)
    return {row.key for row in rejects if row.key in known and row.key is not None and row.reason_code in codes}


def _all_keys(lost: dict[Pair, tuple[str, ...]]) -> set[str]:
    return {key for keys in lost.values() for key in keys}
