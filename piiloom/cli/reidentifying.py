"""The work behind ``piiloom reidentify``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from rich.text import Text

from piiloom.cli.options import DEFAULT_STORE
from piiloom.cli.reading import say_sight
from piiloom.cli.reporting import drawn
from piiloom.cli.terminal import console, error_console, say, say_aside, say_json, say_table
from piiloom.evaluation.reidentification.attack import Attack
from piiloom.evaluation.reidentification.figures import AttackFigures
from piiloom.evaluation.reidentification.folder import write_attack
from piiloom.evaluation.reidentification.sources import (
    Reading,
    subjects_masked_by,
    subjects_of_file,
    subjects_of_release,
    subjects_with_vault,
)
from piiloom.evaluation.reidentification.subjects import Policy, Subject
from piiloom.evaluation.reidentification.tables import attack_tables
from piiloom.foundation.errors import UsageError
from piiloom.foundation.whole_files import check_folder
from piiloom.foundation.words import counted

_EVERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is attacked; ``UsageError`` for a choice that contradicts itself. ``masks`` empty: all policies that the data allow."""

    file: Path | None
    store: Path | None
    release: str | None
    file_format: str | None
    masked_by: Path | None
    found_format: str | None
    vault: Path | None
    masks: tuple[str, ...]

    def __post_init__(self) -> None:
        if (self.file is None) == (self.release is None):
            raise UsageError("give a FILE or a --release, one of the two", remedy="For example: piiloom reidentify --release v1")
        if self.file is not None and self.store is not None:
            raise UsageError("a file has no use for --store", where="--store", remedy="Leave one out")
        for option, value in (("--format", self.file_format), ("--masked-by", self.masked_by), ("--vault", self.vault)):
            if value is not None and self.file is None:
                raise UsageError("this goes with a FILE only", where=option, remedy="Export the release to a file, or leave it out")
        if self.masked_by is not None and self.vault is not None:
            raise UsageError("values are either found or replaced", where="--vault", remedy="Leave out --masked-by or --vault")
        if self.found_format is not None and self.masked_by is None:
            raise UsageError("there are no predictions to read", where="--masked-by-format", remedy="Name them with --masked-by")
        unknown = [mask for mask in self.masks if mask not in get_args(Policy)]
        if unknown:
            raise UsageError(f"unknown policy {unknown[0]!r}", where="--mask", remedy=f"Known: {', '.join(get_args(Policy))}")

    def title(self) -> str:
        """Say what is attacked: the bare name of the file or store, and the release."""
        if self.file is not None:
            return self.file.name
        return f"release {self.release} of {(self.store or DEFAULT_STORE).name}"

    def policies(self) -> tuple[Policy, ...] | None:
        """Return the policies asked for; None if none is named."""
        return tuple(policy for policy in get_args(Policy) if policy in self.masks) or None

    def subjects(self, reading: Reading) -> Iterator[Subject]:
        """Read what is attacked, document by document; what is left out is counted in *reading*."""
        surrogates = "surrogates" in self.masks
        if self.release is not None:
            return subjects_of_release(self.store or DEFAULT_STORE, self.release, surrogates=surrogates, tell=say_sight)
        file = self.file or Path()
        if self.masked_by is not None:
            return subjects_masked_by(file, self.masked_by, reading, self.file_format, self.found_format or self.file_format)
        if self.vault is not None:
            return subjects_with_vault(file, self.vault, self.file_format)
        return subjects_of_file(file, reading, self.file_format, surrogates=surrogates)


def attack_and_print(
    target: Target, *, types: str | None, name_types: str, rare: int, out: Path | None, force: bool, as_json: bool
) -> None:
    """Attack, write the folder if one is named, and print the tables or all figures as JSON."""
    if out is not None:
        check_folder(out, force=force)
    attack = Attack(
        policies=target.policies(),
        types=None if types is None else _listed(types, "--types"),
        name_types=_listed(name_types, "--name-types"),
        rare=rare,
    )
    reading = Reading()
    figures = _attacked(attack, target.subjects(reading), wanted=not as_json)
    told: dict[str, Any] = {"source": target.title(), "reading": asdict(reading), **figures.to_json()}
    files, install = ((), None) if out is None else write_attack(out, target.title(), told, figures)
    if as_json:
        say_json(told | {"out": None if out is None else str(out), "files": list(files)})
    else:
        _print(target, reading, figures)
        if out is not None:
            say(f"written to {out}: {', '.join(files)}")
    if install is not None:
        say_aside(f"no plot was drawn: it needs an extra: {install}")


def _attacked(attack: Attack, subjects: Iterable[Subject], *, wanted: bool) -> AttackFigures:
    """Run the attack; how far it is shows on standard error where that is a terminal."""
    if not wanted:
        for subject in subjects:
            attack.add(subject)
        return attack.figures()
    with error_console().status("reading …") as status:
        for number, subject in enumerate(subjects, start=1):
            attack.add(subject)
            if number % _EVERY == 0:
                status.update(f"reading: {counted(number, 'document')} …")
        status.update("combining the values …")
        return attack.figures()


def _listed(text: str, option: str) -> list[str]:
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise UsageError("not a list of types", where=option, remedy=f"Write for example {option} name,location")
    return found


def _print(target: Target, reading: Reading, figures: AttackFigures) -> None:
    to = console()
    say(f"attack on {target.title()}: {counted(figures.records, 'record')}, {counted(figures.documents, 'text')}")
    if reading.refused_rows or reading.values_without_place:
        rows, values = counted(reading.refused_rows, "row"), counted(reading.values_without_place, "value")
        say(f"left out: {rows} that could not be read, {values} not in the text")
    for table in attack_tables(figures):
        say("")
        say_table(drawn(table))
        to.print(Text(table.note, style="dim"))
