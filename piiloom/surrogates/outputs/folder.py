"""The output folder: its files, its records, and the vault of the original values.

A run writes to a hidden folder beside it, ``.NAME.partial-PID``, and renames it when it is complete. It is removed when the run fails or is
stopped. If a run was killed, the next run in the same place removes it, with the draft of the vault that belongs to it. This holds
whatever the name of the next run's own folder.

Lines of JSON are built by hand, since ``json.dumps`` takes four times as long. Tests compare them with ``native_rows.row_of``.

The vault, written on request, and the key of an unfinished run are for their owner alone.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TextIO
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.foundation.scratch_places import LOCK, is_locked, lock, named
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Final
from piiloom.foundation.errors import RunError
from piiloom.surrogates.documents import Document, Placed, Replaced
from piiloom.surrogates.inputs.json_walking import quoted
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.scratch_places import lock, named, remove_old_drafts
from piiloom.foundation.seeding import KEY_BYTES, secret_key


REPORT: Final = "report.json"
RECORDS: Final = "records.jsonl"
MAP: Final = "map.jsonl"
MIRROR: Final = "mirror"
REJECTS: Final = "rejects.jsonl"  # what a model could not give
TOOL: Final = "piiloom surrogate"


class OutputFolder:
    """Context manager for the output folder. Write to ``partial``, then call ``publish``; otherwise the exit removes it.

    Raises ``UsageError`` if *out* is inside *source* or the other way around, or if *out* is not empty and not an earlier run's output
    to be replaced (*force*; None: the command has no ``--force``). Raises ``OutputError`` if nothing can be written there, also for
    an ``OSError`` in the block.
    """

    def __init__(self, out: Path, source: Path, *, force: bool | None = None) -> None:
        # Do not follow a link in the last component: ``_check`` refuses an output folder that is a link.
        self._out = out.parent.resolve() / out.name if out.name not in {"", ".", ".."} else out.resolve()
        self._source = source.resolve()
        self._force = force
        self._lock: TextIO | None = None
        self.partial = self._out.with_name(f".{self._out.name}.partial-{os.getpid()}")

    def __enter__(self) -> Self:
        self._check()
        try:
            self._out.parent.mkdir(parents=True, exist_ok=True)
            self._remove_leftovers()
            self.partial.mkdir()
            self._lock = (self.partial / LOCK).open("w", encoding="utf-8")
            lock(self._lock)
        except BaseException as error:  # also Ctrl-C, since ``__exit__`` is not called if ``__enter__`` fails
            self._drop()
            if isinstance(error, OSError):
                raise cannot_write(self._out, error) from error
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._drop()
        if isinstance(error, OSError):
            raise cannot_write(self._out, error) from error

    def _check(self) -> None:
        out, source = self._out, self._source
        if out == source:
            raise UsageError("the output folder is the input", where="--out", remedy="Name another folder")
        if source.is_dir() and out.is_relative_to(source):
            raise UsageError("the output folder lies inside the input folder", where="--out", remedy="Name one outside of it")
        if source.is_relative_to(out):
            raise UsageError("the input lies inside the output folder", where="--out", remedy="Name another folder")
        if out.is_symlink() or (out.exists() and not out.is_dir()):
            raise UsageError("this is not a folder", where=str(out), remedy="Name a new folder with --out")
        if out.is_dir() and any(out.iterdir()):
            if not self._force:
                remedy = "Name another with --out" + (", or replace an earlier run's with --force" if self._force is not None else "")
                raise UsageError("the folder is not empty", where=str(out), remedy=remedy)
            if not _is_ours(out):
                raise UsageError(
                    "the folder holds files that no earlier run wrote, and is not replaced",
                    where=str(out),
                    remedy="Name another with --out",
                )

    def publish(self) -> None:
        """Rename the partial folder to its final name. An earlier run's folder of that name is replaced as a whole."""
        self._unlock()
        (self.partial / LOCK).unlink()
        old = self._out.with_name(f".{self._out.name}.replaced-{os.getpid()}")
        replaces = self._out.exists()
        if replaces:
            self._out.rename(old)
        try:
            self.partial.rename(self._out)
        except OSError:
            if replaces:
                old.rename(self._out)
            raise
        if replaces:
            shutil.rmtree(old, ignore_errors=True)

    def _remove_leftovers(self) -> None:
        """Clean up after killed runs.

        Partial folders are removed unless their lock is held, which means that a run is still at work. A folder that was moved aside to
        be replaced gets its name back if no new one took its place.
        """
        for folder in named(self._out.parent, f".{self._out.name}.replaced-"):
            if self._out.exists():
                shutil.rmtree(folder, ignore_errors=True)
            else:
                folder.rename(self._out)
        own = f".{self._out.name}.partial-"
        for folder in named(self._out.parent, ".", ".partial-"):
            known = folder.name.startswith(own) or (folder / LOCK).is_file()  # nobody else's folder of such a name
            if known and folder.is_dir() and not folder.is_symlink() and not is_locked(folder / LOCK):
                _remove_draft_of(folder)
                shutil.rmtree(folder, ignore_errors=True)

    def note_draft(self, draft: Path) -> None:
        """Note that *draft* belongs to this run, so that the next one removes both if this one is killed."""
        assert self._lock is not None  # noqa: S101 - called in the block
        self._lock.write(str(draft))
        self._lock.flush()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _drop(self) -> None:
        with held_interrupts():
            self._unlock()
            if self.partial.exists():
                shutil.rmtree(self.partial, ignore_errors=True)


def _remove_draft_of(folder: Path) -> None:
    with suppress(OSError, ValueError):
        draft = Path((folder / LOCK).read_text(encoding="utf-8"))
        if ".partial-" in draft.name and draft.is_file() and not draft.is_symlink() and not is_locked(draft):
            draft.unlink()


def _is_ours(folder: Path) -> bool:
    try:
        with (folder / REPORT).open(encoding="utf-8") as fh:
            told = json.load(fh)
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and told.get("tool") == TOOL


def cannot_write(place: Path, error: OSError) -> OutputError:
    """Return the error for an ``OSError`` while writing the output, such as a full disk."""
    return OutputError(
        f"the output cannot be written ({error.strerror or type(error).__name__}); nothing was left behind",
        where=str(place),
        remedy="Free disk space, or name another place with --out",
    )


_BLOCK: Final = 4096  # spans or ranges
quote = lru_cache(maxsize=1 << 12)(encode_basestring)  # cached, for strings that repeat often: types, files


def check_replaced(document: Document, replaced: Replaced) -> None:
    """Check an engine's result. Raises ``RunError`` if its places are unsorted, empty or overlap, or if text outside them has changed."""
    at = new_at = 0
    text, new_text = document.text, replaced.text
    same = True
    for start, end, new_start, new_end, _, _, _, _, _ in replaced.placed:
        if not (at <= start < end and new_start < new_end and start - at == new_start - new_at):
            raise _wrong(document, f"the place [{start}, {end}) → [{new_start}, {new_end}) does not fit the one before it, or is empty")
        same = same and text[at:start] == new_text[new_at:new_start]
        at, new_at = end, new_end
    if not same or at > len(text) or text[at:] != new_text[new_at:]:
        raise _wrong(document, "text outside the places has changed")


def _wrong(document: Document, what: str) -> RunError:
    return RunError(f"the engine gave an invalid result: {what}", where=document.id, remedy="Please report this as a bug in piiloom")


def record_id(document: Document, replaced: Replaced) -> str:
    """Return the record's id: 16 hex digits, a hash of the text and the document's id, which is unique.

    Raises ``RunError`` if a surrogate holds half a UTF-16 pair, which UTF-8 cannot encode.
    """
    try:
        content = f"surrogate\0{document.id}\0{replaced.text}".encode()
    except UnicodeEncodeError as error:
        raise _wrong(document, "a surrogate holds half a character, which UTF-8 cannot hold") from error
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def record_parts(document: Document, replaced: Replaced, locale: str, question: str | None = None) -> list[bytes]:
    """Return the line of ``records.jsonl``, with its line feed, in parts: joined, that of a long document would be held twice."""
    asked = "null" if question is None else encode_basestring(question)
    text, own_id = replaced.text, record_id(document, replaced)
    spans = _in_blocks(_spans_json, text, replaced.placed)
    doc_id = encode_basestring(document.id)
    line = f', "line": {document.line}' if document.line is not None else ""
    head = f'{{"id": "{own_id}", "locale": {quote(locale)}, "context": {quoted(text)}, "question": {asked}, '
    stated = f', "person_groups": {json.dumps(replaced.person_groups, ensure_ascii=False)}' if replaced.person_groups is not None else ""
    source = f'"source": {{"file": {quote(document.file)}{line}, "id": {doc_id}}}'
    tail = f'"meta": {{{source}, "group_keys": ["document:{doc_id[1:]}]{stated}}}}}\n'
    return [head.encode(), b'"spans": [', *spans, b"], ", tail.encode()]


def _in_blocks(tell: Callable[[int, str, Sequence[Placed]], list[str]], text: str, placed: Sequence[Placed]) -> list[bytes]:
    """Return what *tell* gives for all places, in blocks that are to be joined: as a text a long one takes several times the space."""
    if len(placed) <= _BLOCK:
        return [", ".join(tell(1, text, placed)).encode()]
    blocks: list[bytes] = []
    for at in range(0, len(placed), _BLOCK):
        blocks += (b", " if at else b"", ", ".join(tell(at + 1, text, placed[at : at + _BLOCK])).encode())
    return blocks


def _spans_json(first: int, text: str, placed: Sequence[Placed]) -> list[str]:
    """Return the spans of *placed*, of which the first is number *first* of its document."""
    encoded, type_of, rest_of = encode_basestring, _type_json, _rest_json
    return [
        f'{{"start": {start}, "end": {end}, "text": {encoded(text[start:end])}, {type_of(entity_type)}, "id": "s{number}"'
        f"{rest_of(subtype, value_id)}}}"
        for number, (_, _, start, end, _, entity_type, subtype, value_id, _) in enumerate(placed, first)
    ]


def _ranges_json(first: int, text: str, placed: Sequence[Placed]) -> list[str]:  # noqa: ARG001 - what ``_in_blocks`` calls
    return [f"[{start}, {end}, {new_start}, {new_end}]" for start, end, new_start, new_end, _, _, _, _, _ in placed]


@lru_cache(maxsize=1 << 10)
def _type_json(entity_type: str) -> str:
    return f'"type": {encode_basestring(entity_type)}, "relevance": null'


@lru_cache(maxsize=1 << 12)
def _rest_json(subtype: str | None, value_id: str) -> str:
    told = (("subtype", subtype), ("value_id", value_id or None))
    return "".join([f', "{key}": {encode_basestring(value)}' for key, value in told if value is not None])


def map_parts(document: Document, replaced: Replaced, question: Replaced | None = None) -> list[bytes]:
    """Return the line of ``map.jsonl`` in parts: the document and [start, end, new start, new end] of each replaced range."""
    ranges = _in_blocks(_ranges_json, "", replaced.placed)
    asked = [b', "question_ranges": [', *_in_blocks(_ranges_json, "", question.placed), b"]"] if question is not None else []
    return [_head(document).encode(), b', "ranges": [', *ranges, b"]", *asked, b"}\n"]


def skipped_line(file: str, line: int, reason: str) -> str:
    """Return the line of ``skipped_rows.jsonl`` for a row that was set aside. It does not hold the row, which may hold originals."""
    return f'{{"file": {quote(file)}, "line": {line}, "reason": {encode_basestring(reason)}}}\n'


def source_line(document: Document, raw: str) -> str:
    """Return the vault's line with the source of a text, as its file spells it."""
    return f'{{"id": {encode_basestring(document.id)}, "raw": {encode_basestring(raw)}}}\n'


def vault_lines(document: Document, replaced: Replaced, field: str = "") -> str:
    """Return the document's lines of the vault: the replaced text of each place, and its original where that is known.

    *field* says that the places are not in the text: "question".
    """
    originals = {(one.start, one.end): one.original for one in document.mentions or () if one.original}
    return "".join([_vault_line(document, place, originals.get((place.start, place.end)), field) for place in replaced.placed])


def _vault_line(document: Document, place: Placed, original: str | None, field: str) -> str:
    apart = f'"field": "{field}", ' if field else ""
    known = f', "original": {encode_basestring(original)}' if original is not None else ""
    return (
        f'{{"id": {encode_basestring(document.id)}, {apart}"start": {place.start}, "end": {place.end}, '
        f'"new_start": {place.new_start}, "new_end": {place.new_end}, '
        f'"text": {encode_basestring(document.text[place.start : place.end])}{known}}}\n'
    )


def _head(document: Document) -> str:
    line = "null" if document.line is None else document.line
    return f'{{"id": {encode_basestring(document.id)}, "file": {quote(document.file)}, "line": {line}'


_MODE: Final = 0o600
_KEY: Final = ".key-"
WARNING: Final = (
    "The vault undoes the surrogates: whoever has it and the output has the input. Keep it apart, and delete it when you no longer need it."
)


class VaultFile:
    """Context manager for the vault. The file is written under a hidden name in its folder; ``publish`` gives it its final name.

    Its first line has the *key* of the run, if there is one: with it and the input the run can be made again.

    On entry raises ``UsageError`` if the file exists, or if it would be in *out* or in the input *source*, with which it might be passed
    on; ``OutputError`` if it cannot be created. If the block fails after ``publish``, the file is removed.
    """

    def __init__(self, path: Path, out: Path, source: Path, key: bytes = b"") -> None:
        self._path = path.parent.resolve() / path.name
        self.draft = self._path.with_name(f".{self._path.name}.partial-{os.getpid()}")
        self._head = json.dumps({"key": key.hex()}).encode() + b"\n" if key else b""
        self._closed_to = (out.resolve(), source.resolve())
        self._fh: BinaryIO | None = None
        self._published = False

    def __enter__(self) -> Self:
        if any(self._path == place or self._path.is_relative_to(place) for place in self._closed_to):
            raise UsageError("the vault must lie outside the output and the input", where="--vault", remedy="Name another file")
        if self._path.exists() or self._path.is_symlink():
            raise UsageError("the file exists, and a vault is never overwritten", where=str(self._path), remedy="Name a new file")
        try:
            remove_old_drafts(self._path)  # of killed runs; they hold originals
            self._fh = os.fdopen(os.open(self.draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _MODE), "wb")
            lock(self._fh)
            os.fchmod(self._fh.fileno(), _MODE)  # independent of the umask
            self._fh.write(self._head)
        except OSError as error:
            raise cannot_write(self._path, error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._fh is not None:
            with suppress(OSError):  # of a full disk, which was reported
                self._fh.close()
        self.draft.unlink(missing_ok=True)
        if error is not None and self._published:
            self._path.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        """Append lines (JSON, UTF-8). Raises ``OutputError`` if the disk is full."""
        if self._fh is not None:
            with self._named():
                self._fh.write(data)

    def publish(self) -> None:
        """Give the file its final name. Raises ``UsageError`` if such a file was made in the meantime."""
        if self._fh is None:
            return
        try:
            with self._named():
                self._fh.flush()
                os.link(self.draft, self._path)
        except FileExistsError:
            raise UsageError(
                "the file was created by another process in the meantime", where=str(self._path), remedy="Name a new file"
            ) from None
        self._published = True

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the vault in the error for an ``OSError`` of the block, as the output may lie on another disk."""
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            why = error.strerror or type(error).__name__
            remedy = "Free disk space there, or name another place with --vault"
            raise OutputError(f"the vault cannot be written ({why}); nothing was left behind", where=str(self._path), remedy=remedy) from error

    def warnings(self) -> list[str]:
        """Return warnings for the user, depending on who may access the vault's folder."""
        mode = self._path.parent.stat().st_mode
        told = [WARNING]
        if mode & 0o022 and not mode & 0o1000:
            told.append("Others may write to the vault's folder, and so may remove or replace it.")
        elif mode & 0o004:
            told.append("Others may list the vault's folder; the file itself is readable by its owner only.")
        return told


class KeyFile:
    """Context manager for the key of a run that is not finished: a hidden file beside its output *out*.

    A run that was killed leaves the file, and the next run in the same place takes it over, so that it gives the same bytes. ``remove``
    is called right before the output is published. If the block fails, the file is removed, too, but with *keep* only for a
    ``UsageError``, which comes before any work. Raises ``OutputError`` if the file cannot be written.
    """

    def __init__(self, out: Path, *, keep: bool = False) -> None:
        self._out, self._keep = out.parent.resolve() / out.name, keep
        self._path: Path | None = None
        self._fh: BinaryIO | None = None
        self.key = b""

    def __enter__(self) -> Self:
        folder, start = self._out.parent, f".{self._out.name}{_KEY}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not any(map(self._take_over, sorted(named(folder, start)))):
                number, name = tempfile.mkstemp(prefix=start, dir=folder)  # with mode 600
                self._path, self._fh, self.key = Path(name), os.fdopen(number, "r+b"), secret_key()
                lock(self._fh)
                self._fh.write(self.key)
                self._fh.flush()
        except OSError as error:
            raise cannot_write(self._out, error) from error
        remove_old_keys(self._out)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and not (self._keep and not isinstance(error, UsageError)):
            self.remove()
        if self._fh is not None:
            self._fh.close()

    def _take_over(self, path: Path) -> bool:
        """Take the key at *path*, if a run of this user left it and nobody else can have read or written it."""
        with suppress(OSError):
            fh = os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW), "r+b")
            status, key = os.fstat(fh.fileno()), fh.read(KEY_BYTES)
            with suppress(BlockingIOError):
                if (status.st_uid, status.st_mode & 0o7777, len(key)) == (os.getuid(), _MODE, KEY_BYTES):
                    lock(fh)
                    self._path, self._fh, self.key = path, fh, key
                    return True
            fh.close()
        return False

    def remove(self) -> None:
        """Delete the file."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def remove_old_keys(out: Path) -> None:
    """Remove the keys of killed runs that wrote to *out*."""
    remove_old_drafts(out, _KEY)
