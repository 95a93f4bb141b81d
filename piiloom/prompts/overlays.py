"""The user's own templates: a folder of files that replace shipped templates of the same name.

``situation.j2`` or ``situation.v9.j2`` replaces the template ``situation``. Every file is checked before the first request is
sent, so that a mistake costs no money. Files that do not end in ``.j2`` are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import nodes

from piiloom.foundation.errors import ConfigError
from piiloom.prompts.compiling import BLOCKS, PromptTemplate

FILE_NAME = re.compile(r"(?P<name>[a-z_]+)(?:\.v(?P<version>\d+))?\.j2")
# Statements that load another file. They are refused, because a template's hash covers only its own file.
_BORROWING = (nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayFile:
    """A file of the folder: the name of the template that it replaces, its version if the file name has one, and its text."""

    path: Path
    name: str
    version: int | None
    source: str


def read_overlay(folder: Path) -> tuple[OverlayFile, ...]:
    """Read the templates in *folder*, the newest version of each name.

    Raises ``ConfigError`` if the folder does not exist or has no template, if a file is badly named or unreadable, or if a name
    has two files of which one has no version.
    """
    if not folder.is_dir():
        raise ConfigError("there is no such folder", where=str(folder), remedy="Name a folder of .j2 files with --prompts")
    found: dict[str, OverlayFile] = {}
    for path in sorted(path for path in folder.iterdir() if path.suffix == ".j2" and path.is_file()):
        file = _read(path)
        other = found.get(file.name)
        if other is not None and (other.version is None or file.version is None):
            raise ConfigError(f"replaces {file.name}, and so does {other.path.name}", where=str(path), remedy="Keep one of the two")
        if other is None or (file.version or 0) > (other.version or 0):
            found[file.name] = file
    if not found:
        raise ConfigError("holds no template", where=str(folder), remedy="Put files named after shipped templates there (situation.j2)")
    return tuple(found.values())


def _read(path: Path) -> OverlayFile:
    match = FILE_NAME.fullmatch(path.name)
    if match is None:
        raise ConfigError("is not named like a template", where=str(path), remedy="Name it NAME.j2 or NAME.v2.j2")
    try:
        source = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError("is not UTF-8", where=str(path), remedy="Save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", where=str(path), remedy="Give it read permission") from error
    version = int(match["version"]) if match["version"] else None
    return OverlayFile(path=path, name=match["name"], version=version, source=source)


def checked(file: OverlayFile, shipped: Mapping[str, PromptTemplate]) -> PromptTemplate:
    """Build the template of *file* and check its syntax, blocks and variables against the *shipped* one that it replaces.

    Returns the shipped template if the content is the same. Raises ``ConfigError`` with file and line.
    """
    replaced = shipped.get(file.name)
    if replaced is None:
        raise ConfigError(f"there is no template {file.name} to replace", where=str(file.path), remedy=f"Known: {', '.join(shipped)}")
    version = "" if file.version is None else f".v{file.version}"
    template = PromptTemplate(f"{file.name}{version}.own", file.source, where=str(file.path), trusted=False)
    if template.sha256 == replaced.sha256:
        return replaced
    _check_blocks(template)
    _check_variables(template, replaced.variables)
    return template


def _check_blocks(template: PromptTemplate) -> None:
    borrowing = next(template.tree.find_all(_BORROWING), None)
    if borrowing is not None:
        raise ConfigError("includes another file", where=template.place(borrowing.lineno), remedy="Write the whole template into this file")
    blocks = {block.name for block in template.tree.find_all(nodes.Block)}
    for name in BLOCKS:
        if name not in blocks:
            remedy = f"Add {{% block {name} %}} … {{% endblock %}}; what stays the same over all calls goes into system"
            raise ConfigError(f"has no block {name}", where=template.where, remedy=remedy)


def _check_variables(template: PromptTemplate, known: frozenset[str]) -> None:
    unknown = template.variables - known
    if unknown:
        uses = [use for use in template.tree.find_all(nodes.Name) if use.name in unknown]
        first = min(uses, key=lambda use: use.lineno)
        where, remedy = template.place(first.lineno), f"Use only {', '.join(sorted(known))}"
        raise ConfigError(f"uses {first.name}, which this template is not given", where=where, remedy=remedy)
