"""Find prompt templates: the shipped ones, and the user's own that replace them.

A template file ``<name>.v<n>.j2`` has two blocks, ``system`` and ``user``. Text that is the same in all calls of a stage
belongs in ``system`` (providers cache stable prefixes), the rest in ``user``. The newest version of a name is used. A library
is immutable: opening a folder again after a file was edited gives another library.

Besides, there are instructions: templates of the same form that no stage asks with, but that stand in training sets for language
models (``piiloom.corpus.formats``). They cannot be replaced.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined, UndefinedError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import data_folder

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


BLOCKS = ("system", "user")
# Exceptions that an expression in a template can raise, besides Jinja's own.
_FAILURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPrompt:
    """The rendered system and user messages."""

    system: str
    user: str


class PromptTemplate:
    """A template: its ``id`` (``situation.v1``), the ``sha256`` of its source, and ``render``.

    *where* names the template in errors. *trusted* is False for a user's file, which is rendered in a sandbox. A template that
    cannot be parsed raises ``ConfigError`` when it is first used, not in the constructor.
    """

    def __init__(self, template_id: str, source: str, *, where: str, trusted: bool = True) -> None:
        self.id = template_id
        self.source = source
        self.where = where
        self.sha256 = hashlib.sha256(source.encode()).hexdigest()
        self._environment = _environment(trusted=trusted)

    @cached_property
    def tree(self) -> nodes.Template:
        """The parsed template."""
        with self._parsing():
            return self._environment.parse(self.source)

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of the variables that the template uses."""
        with self._parsing():
            return frozenset(meta.find_undeclared_variables(self.tree))

    @cached_property
    def _template(self) -> Template:
        code = self._environment.compile(self.tree, self.id, self._code_name)
        return Template.from_code(self._environment, code, self._environment.make_globals(None))

    @cached_property
    def _fixed_system(self) -> str | None:
        """The rendered system block if it is plain text without expressions, so that all calls share it; otherwise None."""
        for block in self.tree.find_all(nodes.Block):
            if block.name == "system" and all(isinstance(node, nodes.Output | nodes.TemplateData) for node in block.find_all(nodes.Node)):
                return "".join(self._template.blocks["system"](self._template.new_context())).strip()
        return None

    @property
    def _code_name(self) -> str:
        return f"<prompt {self.id}>"

    def render(self, variables: Mapping[str, Any]) -> RenderedPrompt:
        """Render the template; raises ``ConfigError``, naming template and line, if a variable is missing or rendering fails."""
        blocks, system = self._template.blocks, self._fixed_system
        context = self._template.new_context(dict(variables))
        try:
            if system is None:
                system = "".join(blocks["system"](context)).strip()
            return RenderedPrompt(system=system, user="".join(blocks["user"](context)).strip())
        except UndefinedError as error:
            raise self._fault(f"cannot be rendered: {error.message}", error) from error
        except (TemplateError, *_FAILURES) as error:  # only the type is shown: the message may quote a variable
            raise self._fault(f"cannot be rendered: {type(error).__name__}", error) from error

    @contextmanager
    def _parsing(self) -> Iterator[None]:
        try:
            yield
        except TemplateSyntaxError as error:
            remedy = "See https://jinja.palletsprojects.com/templates/ for what a template may hold"
            raise ConfigError(f"is not a valid template ({error.message})", where=self.place(error.lineno), remedy=remedy) from None

    def place(self, line: int | None = None) -> str:
        """Return the template's name and *line* for an error message."""
        return f"{self.where}:{line}" if line else self.where

    def _fault(self, message: str, error: Exception) -> ConfigError:
        lines = [trace.tb_lineno for trace in _traces(error.__traceback__) if trace.tb_frame.f_code.co_filename == self._code_name]
        line = self._template.get_corresponding_lineno(lines[-1]) if lines else None
        return ConfigError(message, where=self.place(line), remedy=f"Its variables: {', '.join(sorted(self.variables))}")


def _traces(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


@lru_cache(maxsize=2)
def _environment(*, trusted: bool) -> Environment:
    # No autoescape: prompts are plain text, and HTML escaping would change the values in them.
    environment = (Environment if trusted else ImmutableSandboxedEnvironment)(
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    environment.filters["as_json"] = _as_json
    return environment


def _as_json(value: object) -> str:
    """Return *value* as JSON on one line, so that quotes in a text cannot end the string in the prompt."""
    if isinstance(value, Undefined):
        return str(value)  # raises the error that names the variable
    return json.dumps(value, ensure_ascii=False)


class PromptLibrary:
    """Templates by name; create it with ``open_library``."""

    def __init__(self, templates: Mapping[str, PromptTemplate]) -> None:
        self._templates = dict(sorted(templates.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all templates, sorted."""
        return tuple(self._templates)

    def find(self, name: str) -> PromptTemplate:
        """Look up the template *name*; raises ``ConfigError`` for an unknown one."""
        found = self._templates.get(name)
        if found is None:
            raise ConfigError(f"there is no prompt template named {name!r}", remedy=f"Known: {', '.join(self.names)}")
        return found


def open_library(folder: Path | None = None) -> PromptLibrary:
    """Return the shipped templates, replaced by those of the same name in *folder*.

    The folder is read at every call, so that edits take effect; the library is cached by the files' content. Raises
    ``ConfigError``, naming file and line, if a template cannot be used.
    """
    return _shipped() if folder is None else _overlaid(read_overlay(folder))


@lru_cache(maxsize=1)
def open_instructions() -> PromptLibrary:
    """Return the instructions of training sets."""
    return PromptLibrary(_shipped_templates("instructions"))


@lru_cache(maxsize=1)
def _shipped() -> PromptLibrary:
    return PromptLibrary(_shipped_templates("templates"))


@lru_cache(maxsize=2)
def _shipped_templates(folder_name: str) -> Mapping[str, PromptTemplate]:
    newest: dict[str, int] = {}
    folder = data_folder("prompts").joinpath(folder_name)
    for entry in folder.iterdir():
        match = FILE_NAME.fullmatch(entry.name)
        if match and match["version"]:
            newest[match["name"]] = max(newest.get(match["name"], 0), int(match["version"]))
    ids = {name: f"{name}.v{version}" for name, version in sorted(newest.items())}
    return {
        name: PromptTemplate(template_id, folder.joinpath(f"{template_id}.j2").read_text("utf-8"), where=f"prompt template {template_id}")
        for name, template_id in ids.items()
    }


@lru_cache(maxsize=8)
def _overlaid(files: tuple[OverlayFile, ...]) -> PromptLibrary:
    shipped = _shipped_templates("templates")
    return PromptLibrary({**shipped, **{file.name: checked(file, shipped) for file in files}})
