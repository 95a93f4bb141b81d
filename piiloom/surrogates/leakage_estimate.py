"""Estimate for a corpus how often its documents leak recognisably, under each strategy, and how much a known pool of names reveals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from piiloom.foundation.errors import OutputError
from piiloom.foundation.whole_files import write_folder
from piiloom.pii_values.names.index import open_names
from piiloom.pii_values.names.pools import NamePools
from piiloom.surrogates import replay_attack
from piiloom.surrogates.corpus_run import tag_mapping
from piiloom.surrogates.documents import Document
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.inputs.input_settings import InputSettings
from piiloom.surrogates.inputs.reading import iter_documents
from piiloom.surrogates.known_names import name_parts
from piiloom.surrogates.leakage import collisions
from piiloom.surrogates.leakage.pool_simulation import family_attack
from piiloom.surrogates.leakage.recognising import STRATEGIES, leakage
from piiloom.surrogates.options import LeakageOptions
from piiloom.surrogates.placeholders.finder import Finder
from piiloom.surrogates.planning import Planner
from piiloom.surrogates.settings import Settings, checked_locale

_SEED: Final = 7


def estimate_leakage(source: Path, options: LeakageOptions) -> dict[str, Any]:
    """Plan all documents of *source* and return the estimates; with ``out`` they are written there, with a plot if matplotlib is there.

    Raises ``UsageError``, ``DataError`` and ``OutputError``.
    """
    settings, out = Settings(locale=checked_locale(options.locale)), options.out
    if out is not None and out.exists() and not out.is_dir():
        raise OutputError("this is not a folder", where=str(out), remedy="Name a folder with --out.")
    inputs = InputSettings.of(source, options, options)
    finder = None if inputs.use_spans else Finder(tag_mapping(options.placeholders, inputs, settings.locale))
    sizes, originals, attacked = _read(inputs, finder, settings)
    index = open_names(options.names_index)
    pools = NamePools(index)
    people = sum(len(document) for document in sizes)
    report: dict[str, Any] = {
        "documents": len(sizes),
        "people": people,
        "mentions": sum(map(sum, sizes)),
        "keep": options.keep_probability,
        "leakage": [leakage(sizes, rate, keep=options.keep_probability).to_json() for rate in options.miss],
        "names": {"source": index.source, **collisions.report(pools, people, _SEED)},
        "known_pool_attack_on_family_names": {
            name: family_attack(pools, index, settings.country, _SEED, originals, own_country=own).to_json()
            for name, own in (("ten groups", False), ("names of the texts' own country", True))
        },
        "replay_attack": replay_attack.report(attacked, lambda key: Engine(replace(settings, key=key), pools, finder), _SEED),
    }
    if out is not None:
        text = json.dumps(report, ensure_ascii=False, indent=2) + "\n"
        write_folder(out, {"leakage.json": text.encode(), **_plot(report)})
    return report


def _read(inputs: InputSettings, finder: Finder | None, settings: Settings) -> tuple[list[list[int]], list[str], list[Document]]:
    """Return how often each person of each document is named, the known family names, and the first texts with mentions."""
    planner = Planner(settings.language)
    sizes, originals = [], []
    attacked: dict[str, Document] = {}
    room = replay_attack.MENTIONS
    for document in iter_documents(inputs):
        mentions = document.mentions if finder is None else finder.find(document.text).mentions
        plan = planner.plan(document.text, mentions or ())
        sizes.append([len(cluster.places) for cluster in plan.clusters if cluster.places])
        known = (name_parts(mention.original)[1] for mention in plan.mentions if mention.kind == "person" and mention.original)
        originals += [parts[-1].title() for parts in known if parts]
        if mentions and len(attacked) < replay_attack.MOST and len(mentions) <= room and document.text not in attacked:
            attacked[document.text] = document
            room -= len(mentions)
    return sizes, originals, list(attacked.values())


def _plot(report: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the plot of *report* as a file, {} without matplotlib."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError:
        return {}
    rows = report["leakage"]
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    for name, style in zip(("any_miss", *STRATEGIES), (":", "-", "--", "-."), strict=True):
        shares = [100 * row[name] for row in rows]
        axes.plot([100 * row["miss_rate"] for row in rows], shares, style, marker="o", label=name.replace("_", " "))
    axes.set(xscale="log", xlabel="missed mentions (%)", ylabel="documents that leak recognisably (%)", ylim=(0, 102))
    axes.legend()
    drawn = BytesIO()
    figure.savefig(drawn, dpi=150, format="png")
    return {"leakage.png": drawn.getvalue()}
