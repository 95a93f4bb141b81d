"""``piiloom surrogate``: put realistic surrogates where a corpus was redacted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from piiloom.cli.options import AsJson
from piiloom.cli.progress import line_of, shown
from piiloom.cli.terminal import command_group, examples, harmless, say, say_aside, say_json, say_result, say_table, table_of
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import OutputError, how_to_install
from piiloom.foundation.settings import OptionalPath, setting
from piiloom.foundation.words import counted
from piiloom.surrogates.options import INPUT, PEOPLE, InputOptions, LeakageOptions, SurrogateOptions

if TYPE_CHECKING:
    from rich.table import Table

    from piiloom.surrogates.by_model.drawing import DrawProgress
    from piiloom.surrogates.placeholders.mapping import Mapping as TagMapping
    from piiloom.surrogates.running import RunReport, SurrogateProgress

_SHOWN: Final = 12
_RULE_KEYS: Final = {"pattern": "name"} | {
    name: name for name in ("kind", "role", "same", "use", "confidence", "count", "language", "runner_up")
}
_RUN: Final = (
    "piiloom surrogate run notes/ --out filled",
    "piiloom surrogate run chats.csv --text-field message --out filled --locale en_GB",
    "piiloom surrogate run rulings.zip --out filled --locale nl_NL --placeholders mapping.yaml --on-unknown error",
    "piiloom surrogate run gold.jsonl --spans --out filled --strategy markov --leakage 0.05",
    "piiloom surrogate run notes/ --out filled --values llm --provider compatible --base-url http://localhost:11434/v1 --model llama3",
)
_SURVEY: Final = (
    "piiloom surrogate survey notes/ --out mapping.yaml --locale es_ES",
    "piiloom surrogate survey chats.csv --text-field message --json",
)
_LEAKAGE: Final = (
    "piiloom surrogate leakage notes/ --miss 0.001,0.01,0.05",
    "piiloom surrogate leakage notes/ --out leakage/ --locale nl_NL",
)
_CHECK: Final = "piiloom surrogate check filled notes/"
_RESTORE: Final = "piiloom surrogate restore filled --vault notes.vault --out notes-again"

surrogate_app = command_group(
    'Replace placeholders by realistic, consistent surrogates ("hidden in plain sight"), with exact offsets.',
    *(_RUN[0], _SURVEY[0], _CHECK, _RESTORE, _LEAKAGE[0]),
)


class _Source(AsJson):
    """The input and the form of the result."""

    source: Path = setting(
        ...,
        "A .txt (a BRAT .ann beside it is read, too), .jsonl, .json, .csv, .tsv, .parquet, .arrow, .xml, .docx, .conll or .zip file, or a "
        "folder of these.",
        metavar="INPUT",
        argument=True,
    )


class _Run(_Source, SurrogateOptions):
    out: Path = setting(..., "The folder to make: records.jsonl, mirror/, map.jsonl, report.json.", flags="--out -o", metavar="DIR")


@surrogate_app.command("run", epilog=examples(*_RUN))
@takes(_Run)
def run(asked: _Run) -> None:
    """Put surrogates into a redacted corpus: one person for each role and number, groups in balance, every offset exact.

    DIR appears when everything is there; a run that is stopped leaves nothing.
    """
    from piiloom.surrogates.corpus_run import Observer, run_corpus

    def agree(words: str) -> bool:
        say_aside(words)
        return asked.yes or typer.confirm("Send these sentences?", err=True)

    def warn(warning: str) -> None:
        say_aside(f"warning: {warning}")

    observer = Observer(agree=agree if asked.yes or sys.stdin.isatty() else None, tell=warn, asking=_asking, running=_running)
    _print_report(run_corpus(asked.source, asked.out, asked, observer), as_json=asked.as_json)


def _running() -> AbstractContextManager[Callable[[SurrogateProgress], None]]:
    def described(progress: SurrogateProgress) -> str:
        replaced = f", {counted(progress.replaced, 'surrogate')}" if progress.replaced else ""
        return f"{progress.phase}{replaced}"

    return shown(described, wanted=True, share=lambda progress: (progress.done, progress.total or None))


def _asking() -> AbstractContextManager[Callable[[DrawProgress], None]]:
    return shown(line_of, wanted=True)


def _print_report(report: RunReport, *, as_json: bool) -> None:
    from piiloom.surrogates.outputs.folder import REJECTS

    rejects = report.out / REJECTS
    if rejects.exists():
        say_aside(f"values that the model could not give, with reasons: {rejects}")
    if as_json:
        say_json({"out": str(report.out), **report.report})
        return
    figures = report.report
    engine, people = figures["engine"], figures["engine"]["people"]
    rows = [
        ("documents", report.documents, _groups(people["documents"]) if "documents" in people else ""),
        ("surrogates", report.replaced, _counts(figures["replaced"]["by_kind"], _SHOWN)),
        ("people", people["people"], _groups(people)),
        ("unknown tags", figures["unknown"]["total"], _counts(figures["unknown"]["tags"], _SHOWN)),
        ("brackets left alone", figures["left_alone"]["total"], _counts(figures["left_alone"]["brackets"], _SHOWN)),
    ]
    residual = engine.get("looks_like_personal_information_still")
    if residual is not None:
        rows.append(("still looks personal", sum(residual.values()), _counts(residual)))
    cells = [(name, f"{count:,}", told) for name, count, told in rows]
    say_table(table_of(f"surrogates in {report.out}", ("what", "number", "of these"), cells, right=(1,), header=False))
    for row in engine.get("leakage", ()):
        shares = ", ".join(f"{name} {row[name]:.1%}" for name in ("consistent", "per-mention", "markov"))
        say(f"at {row['miss_rate']:.1%} misses a document leaks recognisably: {shares}")
    for warning in report.warnings:
        say_aside(f"warning: {warning}")
    say(f"records, mirror, offset map and report: {report.out}")


def _counts(counts: Mapping[str, int], most: int | None = None) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:most])


def _groups(people: Mapping[str, Any]) -> str:
    counts = sorted(set(people["groups"].values()))
    each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    gender = people["gender_told_by_text"]
    return (
        f"{each} in each of {len(people['groups'])} groups; the text tells the gender of {sum(gender.values()) - gender.get('open', 0):,}"
    )


class _Survey(_Source, InputOptions):
    panels = (INPUT, PEOPLE)

    out: OptionalPath = setting(
        None, "Write the mapping to this file, to be edited; on standard output when not given.", flags="--out -o", metavar="FILE"
    )
    force: bool = setting(False, "Replace the file if it exists.")
    locale: str | None = setting(
        None, "Language and country of the texts: es_ES; found by their commonest words when not given.", panel=PEOPLE
    )


@surrogate_app.command("survey", epilog=examples(*_SURVEY))
@takes(_Survey)
def survey(asked: _Survey) -> None:
    """Learn the placeholders of a corpus: the meaning of each and how sure it is, unknown tags, and brackets that are left alone."""
    from piiloom.foundation.whole_files import drafted
    from piiloom.surrogates.corpus_run import learnt_mapping
    from piiloom.surrogates.inputs.parts import SourceSettings
    from piiloom.surrogates.placeholders.mapping import dump_mapping, survey_cautions
    from piiloom.surrogates.settings import checked_locale

    out = asked.out
    if out is not None and out.exists() and not asked.force:
        raise OutputError("the file exists", where=str(out), remedy="Name another one, or use --force")
    if out is not None and not out.parent.is_dir():
        raise OutputError("its folder does not exist", where=str(out), remedy="Name another place with --out, or make the folder first")
    found, mapping = learnt_mapping(
        SourceSettings.of(asked.source, asked), checked_locale(asked.locale) if asked.locale else None, limit=None
    )
    cautions, text = survey_cautions(mapping), dump_mapping(mapping)
    if out is not None:
        with drafted(out) as draft:
            draft.write(text.encode())
    if asked.as_json:
        rules = [{name: getattr(rule, key) for name, key in _RULE_KEYS.items()} for rule in mapping.rules]
        unknown, left = ([{"tag": one.tag, "count": one.count} for one in tags] for tags in (mapping.unknown, mapping.left_alone))
        told = {"rules": rules, "unknown": unknown, "left_alone": left, "warnings": list(cautions)}
        say_json({"documents": found.documents, "languages": list(mapping.languages), **told, "file": str(out) if out else None})
        return
    if out is None:
        say(text.rstrip("\n"))
    else:
        _print_rules(f"placeholders of {harmless(asked.source.name)}: {counted(found.documents, 'document')}", mapping)
        others = f"{counted(len(mapping.unknown), 'unknown tag')}, {len(mapping.left_alone):,} kinds of brackets left alone"
        say(f"{counted(len(mapping.rules), 'rule')}, {others}: {out}")
    for caution in cautions:
        say_aside(f"warning: {harmless(caution)}")


def _print_rules(title: str, mapping: TagMapping) -> None:
    rows = []
    for rule in sorted(mapping.rules, key=lambda r: -r.count)[: 2 * _SHOWN]:
        sure = f"{rule.confidence:.2f}" if rule.use else f"{rule.confidence:.2f}, not used"
        rows.append((rule.name, rule.kind, rule.role, rule.same, f"{rule.count:,}", sure, rule.runner_up))
    say_table(table_of(title, ("pattern", "kind", "role", "same", "count", "sure", "or"), rows, right=(4, 5)))


class _Leakage(_Source, LeakageOptions):
    pass


@surrogate_app.command("leakage", epilog=examples(*_LEAKAGE))
@takes(_Leakage)
def leakage(asked: _Leakage) -> None:
    """Estimate how often documents of a corpus leak recognisably, under each strategy, and how much a known pool of names reveals.

    The assumptions stand in docs/surrogates.md.
    """
    from piiloom.surrogates.leakage_estimate import estimate_leakage

    report = estimate_leakage(asked.source, asked)
    if asked.out is not None:
        _say_written(asked.out)
    say_result(report, *_leakage_parts(report, asked.source), as_json=asked.as_json)


def _say_written(out: Path) -> None:
    plotted = (out / "leakage.png").exists()
    say_aside(f"leakage.json and leakage.png: {out}" if plotted else f"leakage.json: {out} (for the plot: {how_to_install('report')})")


def _leakage_parts(report: Mapping[str, Any], source: Path) -> Iterator[str | Table]:
    shares = ("any_miss", "consistent", "per-mention", "markov")
    columns = ("missed", *(name.replace("_", " ") for name in shares))
    rows = [(f"{row['miss_rate']:.2%}", *(f"{row[name]:.1%}" for name in shares)) for row in report["leakage"]]
    title = f"documents of {harmless(source.name)} that leak recognisably ({counted(report['documents'], 'document')})"
    yield table_of(title, columns, rows, right=range(len(columns)))
    names = report["names"]
    yield f"{counted(report['people'], 'person')}, {counted(report['mentions'], 'mention')}; names: {names['source']}"
    expected, observed = names["expected_pairs_with_one_name"], names["observed_pairs_with_one_name"]
    yield f"pairs of people with the same full name: {expected:,} expected, {observed:,} among as many generated people"
    yield "known pool, family names (AUC 0.5: leftovers can't be told from surrogates):"
    for name, attack in report["known_pool_attack_on_family_names"].items():
        areas = f"AUC {attack['membership_auc']:.2f} by membership, {attack['frequency_auc']:.2f} with frequencies"
        yield f"  {name}: {attack['given_away']:.1%} of leftovers are in no pool; {areas}"
    replayed, alone = report["replay_attack"], report["replay_attack"]["pools_alone"]
    yield f"whoever has all outputs and the code, with {replayed['candidates_a_document']:g} candidates for names in a document:"
    for name, told in (("the secret key", replayed["secret_key"]), ("a known --seed", replayed["known_seed"])):
        dates = f"dates of {told['dates_recovered']} of {counted(replayed['documents_with_known_dates'], 'document')}"
        yield f"  {name}: {dates}, {told['name_words_predicted']:.1%} of name words"
    interval = " to ".join(f"{share:.1%}" for share in alone["interval"])
    yield f"  the name pools alone: {alone['name_words_predicted']:.1%} of name words (95% interval {interval})"


class _Folder(AsJson):
    """The folder of an earlier run."""

    folder: Path = setting(..., "The folder that a run made.", metavar="DIR", argument=True)


class _Check(_Folder):
    source: Path = setting(..., "The input of that run.", metavar="INPUT", argument=True)


@surrogate_app.command("check", epilog=examples(_CHECK))
@takes(_Check)
def check(asked: _Check) -> None:
    """Check that nothing but the placeholders changed: the input is read again and compared code point by code point."""
    from piiloom.surrogates.outputs.checking import verify_folder

    checked = verify_folder(asked.folder, asked.source)
    ranges = f"{counted(checked.documents, 'document')}, {counted(checked.ranges, 'replaced range')}"
    say_result(asdict(checked), f"{ranges}; {checked.same:,} code points outside of them are identical", as_json=asked.as_json)


class _Restore(_Folder):
    vault: Path = setting(..., "The vault that the same run wrote.", metavar="FILE")
    out: Path = setting(..., "The folder to make, with the files of the input.", flags="--out -o", metavar="DIR")


@surrogate_app.command("restore", epilog=examples(_RESTORE))
@takes(_Restore)
def restore(asked: _Restore) -> None:
    """Reverse a run: put the originals of its vault back, and compare the files with the input's digests."""
    from piiloom.surrogates.outputs.checking import restore_folder

    restored = restore_folder(asked.folder, asked.vault, asked.out)
    if asked.as_json:
        say_json({"out": str(asked.out), **asdict(restored)})
        return
    for names, told in (
        (restored.differing, "files that are not as the input was"),
        (restored.unknown, "files of which the vault holds no digest, so that nobody knows whether they are as the input was"),
        (restored.left_out, "files that the run did not read, and that only the input holds"),
    ):
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            say_aside(f"warning: {told}: {len(names)} ({harmless(', '.join(names[:_SHOWN]))}{more})")
    equal = restored.files - len(restored.differing) - len(restored.unknown)
    put_back = f"{counted(restored.documents, 'document')}, {counted(restored.places, 'original')} put back"
    say(f"{put_back}; {equal:,} of {restored.files:,} files are as they were: {asked.out}")
