"""Word documents (.docx): the text of all paragraphs, in runs that may cut a placeholder anywhere.

One document is the text of the body, then of headers, footers, notes and comments. A paragraph ends with a line break. A surrogate goes
into the run in which its placeholder begins, and so takes its formatting. Everything else in the file stays as it is.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Final

from piiloom.foundation.errors import DataError
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.parts import (
    AUTHORS,
    FileChange,
    FilePart,
    FoundText,
    Notes,
    Parsed,
    SourceFile,
    SourceSettings,
    TextPiece,
    TextSlot,
    piece_changes,
    with_changes,
)
from piiloom.surrogates.inputs.source import Allowance, archive_members, copied_info, open_archive, read_member
from piiloom.surrogates.inputs.xml_files import PiecedText, entity_pieces, xml_escaped

_BODY: Final = "word/document.xml"
_OTHERS: Final = re.compile(r"word/(?:header|footer|footnotes|endnotes|comments)\d*\.xml")
_TEXT: Final = re.compile(
    r"(?P<tag><w:(?:t|delText)(?:\s[^<>]*)?(?<!/)>)(?P<words>[^<]*)</w:(?:t|delText)>"
    r"|<w:(?P<sign>tab|br|cr|noBreakHyphen)(?:\s+w:(?:type|clear)=\"[^\"]*\")*\s*/>"  # a tab stop has other attributes
    r"|(?P<end></w:p>)"
)
_SIGNS: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_KEPT: Final = ' xml:space="preserve"'
_AUTHOR: Final = re.compile(rb"<dc:creator>[^<]*\S[^<]*<|<cp:lastModifiedBy>[^<]*\S[^<]*<")
_PROPERTIES: Final = "docProps/core.xml"
Run = tuple[int, int, int]


class DocxSlot(TextSlot):
    """All text of a Word document. ``others`` tells the members without text apart: name, checksum, size."""

    __slots__ = ("_pieces", "_runs", "others")

    def __init__(self, raw: str, pieces: Sequence[TextPiece], runs: Sequence[Run], others: tuple[tuple[str, int, int], ...] = ()) -> None:
        super().__init__(0, len(raw))
        self._pieces, self._runs, self.others = pieces, runs, others

    def changes(self, parsed: Parsed, replaced: Replaced) -> list[FileChange]:
        """See ``TextSlot``; the text is the XML of all members with text, one behind the other."""
        changes = list(piece_changes(self._pieces, replaced, xml_escaped))
        return sorted([*changes, *self._kept_spaces(parsed.raw, changes)])

    def _kept_spaces(self, raw: str, changes: Sequence[FileChange]) -> Iterator[FileChange]:
        """Yield an attribute for each changed run that now begins or ends with white space, which Word would drop otherwise."""
        at = 0
        for tag, start, end in self._runs:
            while at < len(changes) and changes[at][1] < start:
                at += 1
            own = []
            while at < len(changes) and changes[at][0] <= end:
                own.append(changes[at])
                at += 1
            if own and "xml:space" not in raw[tag:start]:
                words = with_changes(raw, start, end, own)
                if words != words.strip():
                    yield start - 1, start - 1, _KEPT

    def rest(self, parsed: Parsed) -> tuple[object, str]:
        """Return everything but the words of runs, and the attribute that ``changes`` may add."""
        runs = with_changes(parsed.raw, 0, len(parsed.raw), [(start, end, "") for _, start, end in self._runs])
        return self.others, runs.replace(_KEPT, "")


class DocxParsed(Parsed):
    """A Word document; ``members`` are those in ``raw``, by name. At most ``limit`` bytes are unpacked again."""

    members: Sequence[str] = ()
    file: SourceFile | None = None
    limit: int = 0

    def mirrored(self, replaced: Sequence[Replaced]) -> bytes:
        """Return the bytes of the new file. One in which nothing was replaced is the old one."""
        assert self.file is not None  # noqa: S101 - set below
        if not any(one.placed for one in replaced):
            return self.file.path.read_bytes()
        texts = dict(zip(self.members, self.rewritten(replaced).split("\0"), strict=True))
        out = io.BytesIO()
        allowance = Allowance(self.limit)
        with open_archive(self.file.path, self.file.name) as source, zipfile.ZipFile(out, "w") as target:
            for info in source.infolist():
                words = texts.get(info.filename)
                data = read_member(source, info, allowance, self.file.name) if words is None else words.encode("utf-8")
                target.writestr(copied_info(info), data)
        return out.getvalue()

    def again(self, replaced: Sequence[Replaced]) -> Parsed:
        """Return the document as it is read from its mirror."""
        raw = self.rewritten(replaced)
        return Parsed(raw, _found(raw))


def read_docx(part: FilePart, settings: SourceSettings) -> Parsed:
    """Read a Word document. Raises ``DataError`` if it is damaged, too large, or none."""
    name = part.file.name
    allowance, notes = Allowance(settings.max_unpacked), Notes()
    with open_archive(part.file.path, name) as archive:
        infos = {info.filename: info for info in archive_members(archive, name)}
        if _BODY not in infos:
            raise DataError("the file is no Word document", where=name, remedy="Save it as .docx, or leave it out")
        texts = [_BODY, *sorted(filter(_OTHERS.fullmatch, infos))]
        parts = [_decoded(read_member(archive, infos[one], allowance, name), f"{name}/{one}") for one in texts]
        if _PROPERTIES in infos and _AUTHOR.search(read_member(archive, infos[_PROPERTIES], allowance, name)):
            notes.add(AUTHORS, 0)
    raw = "\0".join(parts)
    if ' w:author="' in raw:
        notes.add(AUTHORS, 0)
    others = tuple((one, info.CRC, info.file_size) for one, info in infos.items() if one not in texts)
    parsed = DocxParsed(raw, _found(raw, others), rows=1, notes=notes)
    parsed.members, parsed.file, parsed.limit = texts, part.file, settings.max_unpacked
    return parsed


def _found(raw: str, others: tuple[tuple[str, int, int], ...] = ()) -> list[FoundText]:
    text = PiecedText()
    runs: list[Run] = []
    for match in _TEXT.finditer(raw):
        if match["tag"] is not None:
            runs.append((match.start(), *match.span("words")))
            for piece in entity_pieces(raw, *match.span("words")):
                text.add(*piece)
        else:
            text.add("\n" if match["end"] else _SIGNS[match["sign"]], match.start(), match.start())
    words = "".join(text.words)
    return [FoundText(words, DocxSlot(raw, text.pieces, runs, others))] if words.strip() else []


def _decoded(data: bytes, where: str) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError("the XML is not UTF-8", where=where, remedy="Save the document again with Word or LibreOffice") from error
    if "\0" in text:
        raise DataError("the XML holds a zero character", where=where, remedy="Save the document again with Word or LibreOffice")
    return text
