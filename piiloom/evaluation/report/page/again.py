"""How to cite the set and how to make it again: the settings of its runs as run files, and the commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from piiloom.corpus.releases.release_options import RecordChoice, SplitSettings, settings_json
from piiloom.evaluation.report.background import RunFacts
from piiloom.evaluation.report.sources import Corpus
from piiloom.foundation.version import __version__

# Settings that decide what a run makes. Left out: those about how calls are sent, which may name hosts, prices or paths.
_SETTINGS = (
    *("samples", "seed", "provider", "model", "recipe", "pairs", "locale", "values", "topics_per_pair", "subtopics_per_topic"),
    *("questions_per_text", "max_low", "max_attempts", "situation_words", "peripheral_words", "question_words", "registers", "margin"),
    *("composer", "temperature", "top_p", "sampling", "on_disagreement", "judges"),
    *("screen_threshold", "on_unlisted"),
)
_OF_ONE_S_OWN = ("bank", "prompts", "types", "screen_model")
_UNQUOTABLE = re.compile(r"[{}\\]")
_STORE = "again.duckdb"
_DEFAULTS = {**settings_json(SplitSettings()), **settings_json(RecordChoice())}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFile:
    """A run file (YAML for ``piiloom generate --config``), and the files of one's own that the run had and that are not in it."""

    name: str
    content: str
    own: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """How to make the set again. ``asks_models``: the texts come from a model that may answer otherwise the next time."""

    files: tuple[RunFile, ...]
    commands: str
    asks_models: bool
    imported: int


def how_to_make_again(corpus: Corpus, *, seed: int) -> Again:
    """Return the run files and commands; *seed* is that of the report."""
    background, source = corpus.background, corpus.source
    files = tuple(_run_file(run, number, len(background.runs)) for number, run in enumerate(background.runs, start=1))
    store = ["--store", _STORE]
    lines = [["piiloom", "generate", "--config", file.name, *store] for file in files]
    if background.imported:
        lines.append(["piiloom", "import", "FILE", *store])
    report = ["piiloom", "report"]
    if background.release is not None:
        told = background.release
        chosen = [word for name, value in _release_options(told.settings, told.filters) for word in (name, value)]
        named = [("--name", told.name), ("--version", told.version), ("--license", told.license)]
        stated = [word for name, value in named if value is not None for word in (name, value)]
        lines.append(["piiloom", "release", *stated, *chosen, *store])
        report += ["--release", told.name, *store]
    elif source.reading is not None:
        report.append(source.file)
    else:
        report += store
    lines.append([*report, "--seed", str(seed), "--out", "report"])
    return Again(
        files=files,
        commands="\n".join(shlex.join(line) for line in lines),
        asks_models=any(run.provider != "composer" for run in background.runs),
        imported=background.imported,
    )


def citation(title: str, version: str | None, content_sha256: str | None, license_name: str | None) -> str:
    """Return a BibTeX entry. It has no year: the page knows no date."""
    key = re.sub(r"[^a-z0-9]+", "-", f"{title} {version or ''}".lower()).strip("-") or "dataset"
    rows = [
        ("title", title),
        ("version", version),
        ("note", f"Made with piiloom {__version__}" + (f"; content sha256 {content_sha256}" if content_sha256 else "")),
        ("license", license_name),
    ]
    fields = [f"  {name} = {{{_UNQUOTABLE.sub('', value)}}}" for name, value in rows if value]
    return f"@misc{{{key},\n" + ",\n".join(fields) + "\n}"


def _run_file(run: RunFacts, number: int, runs: int) -> RunFile:
    kept: dict[str, Any] = {name: run.settings[name] for name in _SETTINGS if _is_set(run.settings.get(name))}
    kept |= {"samples": run.samples, "seed": run.seed}
    kept = {
        name: {key: each for key, each in value.items() if _is_set(each)} if isinstance(value, dict) else value
        for name, value in kept.items()
    }
    content = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None)
    own = tuple(name for name in _OF_ONE_S_OWN if _is_set(run.settings.get(name)))
    return RunFile(name="run.yaml" if runs == 1 else f"run{number}.yaml", content=content, own=own)


def _is_set(value: object) -> bool:
    return value not in (None, [], {}, ())


def _release_options(settings: Mapping[str, Any], filters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the options that are not the defaults."""
    stated = {**settings, **filters}
    unused = {"run_id", *(("test_size", "validation_size") if stated.get("folds") else ())}
    told = {
        name: value
        for name, value in stated.items()
        if name not in unused and (name == "seed" or value != _DEFAULTS.get(name)) and _is_set(value)
    }
    return [("--" + name.replace("_", "-"), _as_option(value)) for name, value in told.items()]


def _as_option(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
