"""The work behind ``piiloom surrogate leakage``: the estimates, a table of them, and a plot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from piiloom.cli.surrogate_checks import checked_locale, miss_rates, written_whole
from piiloom.cli.surrogate_options import InputOptions
from piiloom.cli.surrogate_running import input_settings, tag_mapping
from piiloom.cli.terminal import harmless, say, say_aside, say_table
from piiloom.cli.terminal import say_json as print_json
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.words import counted
from piiloom.pii_values.names.index import open_names
from piiloom.pii_values.names.pools import NamePools
from piiloom.surrogates import replay_attack
from piiloom.surrogates.documents import Document
from piiloom.surrogates.engine import Engine
from piiloom.surrogates.inputs.parts import InputSettings
from piiloom.surrogates.inputs.reading import iter_documents
from piiloom.surrogates.known_names import name_parts
from piiloom.surrogates.leakage import collisions
from piiloom.surrogates.leakage.pool_simulation import family_attack
from piiloom.surrogates.leakage.recognising import STRATEGIES, Leakage, leakage
from piiloom.surrogates.placeholders.finder import Finder
from piiloom.surrogates.planning import Planner
from piiloom.surrogates.settings import Settings

_SEED: Final = 7


def estimate_and_report(
    inputs: InputOptions,
    miss: str,
    out: Path | None,
    *,
    placeholders: str,
    locale: str,
    keep: float,
    names: Path | None,
    as_json: bool,
) -> None:
    """Plan all documents, estimate, and print; with *out* also write ``leakage.json`` and, where matplotlib is there, a plot."""
    rates = miss_rates(miss, "--miss")
    if not rates:
        raise UsageError("no miss rate is given", where="--miss", remedy="Give shares between 0 and 1: 0.01,0.05.")
    settings = Settings(locale=checked_locale(locale))
    if out is not None and out.exists() and not out.is_dir():
        raise OutputError("this is not a folder", where=str(out), remedy="Name a folder with --out.")
    source = input_settings(inputs)
    finder = None if source.use_spans else Finder(tag_mapping(placeholders, source, settings.locale))
    sizes, originals, attacked = _read(source, finder, settings)
    found = [leakage(sizes, rate, keep=keep) for rate in rates]
    index = open_names(names)
    pools = NamePools(index)
    people = sum(len(document) for document in sizes)
    report: dict[str, Any] = {
        "documents": len(sizes),
        "people": people,
        "mentions": sum(map(sum, sizes)),
        "keep": keep,
        "leakage": [one.to_json() for one in found],
        "names": {"source": index.source, **collisions.report(pools, people, _SEED)},
        "known_pool_attack_on_family_names": {
            name: family_attack(pools, index, settings.country, _SEED, originals, own_country=own).to_json()
            for name, own in (("ten groups", False), ("names of the texts' own country", True))
        },
        "replay_attack": replay_attack.report(attacked, lambda key: Engine(replace(settings, key=key), pools, finder), _SEED),
    }
    if out is not None:
        _write(report, found, out)
    if as_json:
        print_json(report)
    else:
        _print(report, found, inputs.source)


def _read(source: InputSettings, finder: Finder | None, settings: Settings) -> tuple[list[list[int]], list[str], list[Document]]:
    """Return how often each person of each document is named, the known family names, and the first texts with mentions."""
    planner = Planner(settings.language)
    sizes, originals = [], []
    attacked: dict[str, Document] = {}
    room = replay_attack.MENTIONS
    for document in iter_documents(source):
        mentions = document.mentions if finder is None else finder.find(document.text).mentions
        plan = planner.plan(document.text, mentions or ())
        sizes.append([len(cluster.places) for cluster in plan.clusters if cluster.places])
        known = (name_parts(mention.original)[1] for mention in plan.mentions if mention.kind == "person" and mention.original)
        originals += [parts[-1].title() for parts in known if parts]
        if mentions and len(attacked) < replay_attack.MOST and len(mentions) <= room and document.text not in attacked:
            attacked[document.text] = document
            room -= len(mentions)
    return sizes, originals, list(attacked.values())


def _print(report: dict[str, Any], found: Sequence[Leakage], source: Path) -> None:
    table = Table(title=f"documents of {harmless(source.name)} that leak recognisably ({counted(report['documents'], 'document')})")
    for name in ("missed", "any miss", *STRATEGIES):
        table.add_column(name, justify="right")
    for one in found:
        table.add_row(f"{one.miss_rate:.2%}", *(f"{share:.1%}" for share in (one.any_miss, one.consistent, one.per_mention, one.markov)))
    say_table(table)
    names = report["names"]
    say(f"{counted(report['people'], 'person')}, {counted(report['mentions'], 'mention')}; names: {names['source']}")
    expected, observed = names["expected_pairs_with_one_name"], names["observed_pairs_with_one_name"]
    say(f"pairs of people with the same full name: {expected:,} expected, {observed:,} among as many generated people")
    say("known pool, family names (AUC 0.5: leftovers can't be told from surrogates):")
    for name, attack in report["known_pool_attack_on_family_names"].items():
        shares = f"AUC {attack['membership_auc']:.2f} by membership, {attack['frequency_auc']:.2f} with frequencies"
        say(f"  {name}: {attack['given_away']:.1%} of leftovers are in no pool; {shares}")
    replayed, alone = report["replay_attack"], report["replay_attack"]["pools_alone"]
    say(f"whoever has all outputs and the code, with {replayed['candidates_a_document']:g} candidates for names in a document:")
    for name, told in (("the secret key", replayed["secret_key"]), ("a known --seed", replayed["known_seed"])):
        dates = f"dates of {told['dates_recovered']} of {counted(replayed['documents_with_known_dates'], 'document')}"
        say(f"  {name}: {dates}, {told['name_words_predicted']:.1%} of name words")
    interval = " to ".join(f"{share:.1%}" for share in alone["interval"])
    say(f"  the name pools alone: {alone['name_words_predicted']:.1%} of name words (95% interval {interval})")


def _write(report: dict[str, Any], found: Sequence[Leakage], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with written_whole(out / "leakage.json") as draft:
        draft.write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError:
        say_aside(f"leakage.json: {out} (for the plot: {how_to_install('report')})")
        return
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.subplots()
    rates = [100 * one.miss_rate for one in found]
    lines = {"any miss": [o.any_miss for o in found], "consistent": [o.consistent for o in found]}
    lines |= {"per-mention": [o.per_mention for o in found], "markov": [o.markov for o in found]}
    for (name, shares), style in zip(lines.items(), (":", "-", "--", "-."), strict=True):
        axes.plot(rates, [100 * share for share in shares], style, marker="o", label=name)
    axes.set(xscale="log", xlabel="missed mentions (%)", ylabel="documents that leak recognisably (%)", ylim=(0, 102))
    axes.legend()
    with written_whole(out / "leakage.png") as draft:
        figure.savefig(draft, dpi=150, format="png")
    say_aside(f"leakage.json and leakage.png: {out}")
