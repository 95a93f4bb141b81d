"""Goldens: the bytes of outputs, kept in ``data/expected``. A test passes its files to ``check``, which reports every line that changed.

A golden file has one section for each output file: its name, number of lines and SHA-256, then its lines. Lines of a file of at most
``MOST_TEXT_BYTES`` are kept as they are, lines of a larger file as hashes. ``PIILOOM_RENEW_GOLDENS=1 make test-golden`` writes all
goldens anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.llm_server import LLMServer

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
RENEW = bool(os.environ.get("PIILOOM_RENEW_GOLDENS"))
MOST_TEXT_BYTES = 20_000
MOST_SHOWN = 6

# The only parts of outputs that are not compared: the version of piiloom, the store's schema version, and hashes that follow from these.
NOT_COMPARED = (
    (re.compile(rb'"(piiloom|frozen_by)": "\d[^"]*"'), rb'"\1": "VERSION"'),
    (re.compile(rb'"schema_version": \d+'), rb'"schema_version": "VERSION"'),
    (re.compile(rb"([Mm]ade with piiloom|\(version) \d+\.\d+\.\d+"), rb"\1 VERSION"),
    # The page and the metadata name the version. Of DocBin files the content is compared: zlib's versions compress differently.
    (re.compile(rb'((?:README\.md|croissant\.json|\w+\.spacy)"?: \{[^}]*?"sha256": )"[0-9a-f]{64}"'), rb'\1"HASH"'),
)

# Paid calls go to this address: it is part of a reply's key and of a run's identity. A loopback server is its proxy.
ENDPOINT = "http://golden.invalid"
MODELS = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5", "compatible": "local-model"}
_FOREIGN = re.compile(r"(?i).*_proxy|PIILOOM_.*|(OPENAI|ANTHROPIC|AWS|AZURE)_.*")


def environment(server: LLMServer | None = None) -> dict[str, str]:
    """Return the environment of a command: the checkout's code, no settings of the developer, and *server* as the proxy."""
    kept = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PIILOOM_COMPATIBLE_API_KEY"), "sk-golden")
    proxy = {"HTTP_PROXY": server.root} if server else {}
    return {**kept, **keys, **proxy, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(DATA / "none"), "COLUMNS": "200"}


def command(*words: object) -> list[str]:
    """Return the command line of ``piiloom`` with *words*."""
    return [sys.executable, "-P", "-m", "piiloom", *map(str, words)]


def piiloom(folder: Path, *words: object, server: LLMServer | None = None) -> str:
    """Run ``piiloom`` with *words* in *folder* and return its standard output. It must succeed."""
    done = subprocess.run(command(*words), cwd=folder, env=environment(server), capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, f"piiloom {words[0]} failed: {done.stderr[-2000:]}"
    return done.stdout


def paid_options(provider: str) -> tuple[object, ...]:
    """Return the options of a small run with *provider* through the loopback server."""
    url = ENDPOINT if provider == "anthropic" else f"{ENDPOINT}/v1"
    few = ("--pairs", "health+occupation,age+belief", "--topics-per-pair", 2, "--subtopics-per-topic", 4, "--seed", 7)
    return ("--provider", provider, "--model", MODELS[provider], "--base-url", url, "--unpriced", *few)


def exported(folder: Path, store: str, *, file_format: str = "native", release: str = "golden", test_size: int = 0) -> dict[str, bytes]:
    """Release everything in *store*, unless there is such a release, and return the files of its export."""
    if release == "golden":
        piiloom(folder, "release", "--name", release, "--test-size", test_size, "--seed", 7, "--store", store)
    out = folder / f"export-{release}-{file_format}"
    piiloom(folder, "export", "--release", release, "--format", file_format, "--out", out, "--store", store)
    return files_of(out)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files below *folder* by their paths within it."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def as_text(data: Any) -> bytes:
    """Return *data* as lines of JSON, floats rounded to 4 decimals."""
    return ("\n".join(_json_lines(_rounded(data), "")) + "\n").encode()


def _json_lines(data: Any, indent: str) -> Iterator[str]:
    """Yield *data* on one line if it is short, else its members one below the other."""
    short = json.dumps(data, ensure_ascii=False)
    if len(short) <= 300 or not isinstance(data, dict | list):
        yield indent + short
        return
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        first, *more = _json_lines(value, f"{indent} ")
        yield f"{indent}{key}:" if more else f"{indent}{key}: {first.lstrip()}"
        yield from (first, *more) if more else ()


def _rounded(data: Any) -> Any:
    if isinstance(data, float):
        return round(data, 4)
    if isinstance(data, Mapping):
        return {key: _rounded(value) for key, value in data.items()}
    return [_rounded(value) for value in data] if isinstance(data, list) else data


@dataclass(frozen=True, slots=True)
class Section:
    """One output file: the hash of its bytes, and its lines or their hashes."""

    sha256: str
    hashed: bool
    rows: list[str]


def check(name: str, files: Mapping[str, bytes]) -> None:
    """Compare *files* with the golden *name*, or write it if goldens are renewed."""
    path = DATA / "expected" / f"{name}.txt"
    lines = {file: _lines(file, data) for file, data in files.items()}
    sections = {file: _section(file, data, lines[file]) for file, data in files.items()}
    if RENEW:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes("".join(_written(file, section) for file, section in sections.items()).encode())
        return
    assert path.is_file(), f"there is no golden {path.name}; PIILOOM_RENEW_GOLDENS=1 make test-golden writes it"
    kept = dict(_read(path.read_bytes().decode()))
    faults = [f"{file}: this file is missing now" for file in kept if file not in sections]
    faults += [f"{file}: this file is new" for file in sections if file not in kept]
    for file, section in kept.items():
        if file in sections and sections[file] != section:
            faults += _changes(file, section, sections[file], lines[file])
    more = [f"… and {len(faults) - MOST_SHOWN} more"] if len(faults) > MOST_SHOWN else []
    if faults:
        pytest.fail("\n".join([f"golden {name} ({path.relative_to(ROOT)}):", *faults[:MOST_SHOWN], *more]), pytrace=False)


def _lines(file: str, data: bytes) -> list[str]:
    """Return the lines of a text, or of what a binary file holds."""
    if file.endswith(".parquet"):
        from pyarrow import parquet

        table = parquet.read_table(BytesIO(data))
        return [*str(table.schema).split("\n"), *(json.dumps(row, ensure_ascii=False, default=str) for row in table.to_pylist())]
    if file.endswith(".spacy"):
        import spacy
        from spacy.tokens import DocBin

        docs = DocBin().from_bytes(data).get_docs(spacy.blank("xx").vocab)
        return [json.dumps([doc.to_json(), {key: [str(span) for span in doc.spans[key]] for key in doc.spans}]) for doc in docs]
    return _compared(data).decode().split("\n")


def _compared(data: bytes) -> bytes:
    for pattern, put in NOT_COMPARED:
        data = pattern.sub(put, data)
    return data


def _section(file: str, data: bytes, lines: list[str]) -> Section:
    whole = zlib.decompress(data) if file.endswith(".spacy") else data if file.endswith(".parquet") else _compared(data)
    hashed = sum(len(line) + 1 for line in lines) > MOST_TEXT_BYTES
    rows = [hashlib.sha256(line.encode()).hexdigest()[:8] for line in lines] if hashed else [line.replace("\r", "␍") for line in lines]
    return Section(hashlib.sha256(whole).hexdigest(), hashed, rows)


def _written(file: str, section: Section) -> str:
    head = f"== {file} {len(section.rows)} {'hashes' if section.hashed else 'lines'} {section.sha256}"
    return "\n".join([head, *(row if section.hashed else f"|{row}" for row in section.rows)]) + "\n"


def _read(text: str) -> Iterator[tuple[str, Section]]:
    for part in text.removeprefix("== ").removesuffix("\n").split("\n== "):
        head, *rows = part.split("\n")
        file, count, how, sha256 = head.rsplit(" ", 3)
        assert len(rows) == int(count), f"the golden of {file} is damaged"
        yield file, Section(sha256, how == "hashes", rows if how == "hashes" else [row[1:] for row in rows])


def _changes(file: str, old: Section, new: Section, lines: list[str]) -> Iterator[str]:
    """Yield each changed place: the number of the line, what it was (if the golden has its text), and what it is."""
    before = old.rows if old.hashed == new.hashed or old.hashed else [hashlib.sha256(row.encode()).hexdigest()[:8] for row in old.rows]
    after = new.rows if old.hashed == new.hashed or new.hashed else [hashlib.sha256(line.encode()).hexdigest()[:8] for line in lines]
    if before == after:
        yield f"{file}: the lines are equal, the bytes differ"
    for kind, begin, end, first, last in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        was = old.rows[begin:end]
        for number in range(max(end - begin, last - first)):
            said = [f"{file}, line {first + number + 1}:"]
            now = lines[first + number] if number < last - first else None
            past = was[number] if number < len(was) else None
            at = _first_difference(past, now) if past is not None and now is not None and not old.hashed else 0
            if past is not None:
                said.append(f"  was {'a line of the hash ' + past if old.hashed else _excerpt(past, at)}")
            said.append("  is gone" if now is None else f"  is  {_excerpt(now, at)}")
            yield "\n".join(said)


def _first_difference(one: str, other: str) -> int:
    return next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other)))


def _excerpt(line: str, at: int) -> str:
    """Return *line*, or what is around the place *at* of a long one."""
    begin = max(0, at - 100) if len(line) > 300 else 0
    return f"{'…' * (begin > 0)}{line[begin : begin + 300]}{'…' * (len(line) > begin + 300)}"


def dump_of(connection: Any) -> str:
    """Return the SQL statements that make the DuckDB database of *connection*, its tables in the order of their names."""

    def literal(value: object) -> str:
        if isinstance(value, bool) or value is None:
            return {None: "NULL", True: "true", False: "false"}[value]
        return repr(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"

    def statements() -> Iterable[str]:
        yield from (sql for (sql,) in connection.execute("SELECT sql FROM duckdb_sequences() ORDER BY sequence_name").fetchall())
        for table, sql in connection.execute("SELECT table_name, sql FROM duckdb_tables() ORDER BY table_name").fetchall():
            yield sql
            for row in connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall():  # noqa: S608 - a table of the catalogue
                yield f"INSERT INTO {table} VALUES ({', '.join(map(literal, row))});"  # noqa: S608

    return "\n".join(statements()) + "\n"
