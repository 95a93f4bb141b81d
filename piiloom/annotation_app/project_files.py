"""Files that the app writes next to a store for people to download: exports, and the rejected rows of imports."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final, Literal

from piiloom.corpus.releases.manifest import MANIFEST

WrittenKind = Literal["rejects", "selections"]
FileKind = Literal["exports", "rejects", "selections"]
# The beginnings of the names of files, by kind.
_NAMED: Final[dict[WrittenKind, str]] = {"rejects": "import-", "selections": "records-"}
# The timestamp of all archive members, so that equal exports give byte-identical archives.
_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenExport:
    """A folder that holds a complete export.

    ``folder`` is its name, ``records`` the number of records by split, ``withheld`` the number of records left out, ``size`` the total in
    bytes.
    """

    folder: str
    release: str
    file_format: str
    records: Mapping[str, int]
    withheld: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file of rejected import rows, or of records that a list showed; ``size`` in bytes."""

    name: str
    size: int


class ProjectFiles:
    """The exports, selections of records, and reject files of the store in the file *store*. They are in folders next to it."""

    def __init__(self, store: Path) -> None:
        self._place = store.parent

    def export_folder(self, release: str, file_format: str) -> Path:
        """Return the folder to which *release* is exported in *file_format*.

        A release name is free text. Characters that are unsafe in a path become ``_`` and long names are cut. If that changes the name, a
        hash of it is appended, so that two releases never share a folder.
        """
        plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in release).strip(".")[:60]
        mark = "" if plain == release else f"-{sha256(release.encode('utf-8', 'replace')).hexdigest()[:8]}"
        return self._place / "exports" / f"{plain}{mark}-{file_format}"

    def exports(self) -> list[WrittenExport]:
        """List the complete exports, sorted by folder name."""
        found = [_export_in(folder) for folder in _entries(self._place / "exports")]
        return [export for export in found if export is not None]

    def write_archive(self, folder: str, target: IO[bytes]) -> bool:
        """Write the export in *folder* to *target* as a zip file. Return False if there is no such export."""
        if folder not in {export.folder for export in self.exports()}:
            return False
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in _files(self._place / "exports" / folder):
                entry = zipfile.ZipInfo(file.relative_to(self._place / "exports").as_posix(), _NO_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                with file.open("rb") as source, archive.open(entry, "w", force_zip64=True) as sink:
                    while block := source.read(1 << 20):
                        sink.write(block)
        return True

    def new_rejects(self, moment: datetime) -> Path:
        """Return an unused path for the rejected rows of an import that starts at *moment*."""
        return _unused(self._place / "rejects", f"{_NAMED['rejects']}{moment:%Y%m%dT%H%M%S}", ".jsonl")

    def new_selection(self, moment: datetime, file_format: str, suffix: str) -> Path:
        """Return an unused path, in a folder that exists, for records in *file_format* that are written out at *moment*."""
        folder = self._place / "selections"
        folder.mkdir(parents=True, exist_ok=True)
        return _unused(folder, f"{_NAMED['selections']}{moment:%Y%m%dT%H%M%S}-{file_format}", suffix)

    def written(self, kind: WrittenKind) -> list[WrittenFile]:
        """List the files of selected records, or those of rejected rows, newest first."""
        found = [(path.stat(), path) for path in _entries(self._place / kind) if path.name.startswith(_NAMED[kind]) and path.is_file()]
        newest = sorted(found, key=lambda one: (one[0].st_mtime_ns, one[1].name), reverse=True)
        return [WrittenFile(name=path.name, size=state.st_size) for state, path in newest if kind != "rejects" or path.suffix == ".jsonl"]

    def file(self, kind: WrittenKind, name: str) -> Path | None:
        """Return the path of the file of *kind* called *name*, or None if there is none."""
        return self._place / kind / name if name in {file.name for file in self.written(kind)} else None


def _unused(folder: Path, name: str, suffix: str) -> Path:
    number, path = 1, folder / f"{name}{suffix}"
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}{suffix}"
    return path


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _files(folder: Path) -> list[Path]:
    """Return the files of *folder* and of its folders, sorted; hidden ones, such as drafts, are left out."""
    found: list[Path] = []
    for path in _entries(folder):
        if path.name.startswith(".") or path.is_symlink():
            continue
        found += _files(path) if path.is_dir() else [path]
    return found


def _export_in(folder: Path) -> WrittenExport | None:
    try:
        about: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return WrittenExport(
            folder=folder.name,
            release=str(about["name"]),
            file_format=str(about["format"]),
            records={str(split): int(counts["records"]) for split, counts in about["splits"].items()},
            withheld=len(about["withheld"]),
            size=sum(file.stat().st_size for file in _files(folder)),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # not an export, or one that is only half written
        return None
