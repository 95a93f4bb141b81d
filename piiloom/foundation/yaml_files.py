"""Read YAML files and report their faults by file, line and key.

A document keeps the node tree it was composed from (it exists anyway), so a line is looked up only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.schema_faults import KeyPath, key_name, schema_faults

__all__ = ["FileModel", "KeyPath", "Text", "YamlDocument", "key_name", "load_yaml", "read_document", "validate_document"]

ModelT = TypeVar("ModelT", bound=BaseModel)
Text = Annotated[str, StringConstraints(min_length=1, pattern=r"^\S.*\S$|^\S$")]  # a text of a data file: no blank begins or ends it

_SHOWN_FAULTS = 3
_TEXT, _LIST, _MAPPING = (f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map"))


class FileModel(BaseModel):
    """What a data file, or a part of one, is read as: unknown keys and values of another type are faults.

    pydantic prepares a model when its first file is read: most commands read few of the kinds of files. What may be left out is an empty
    list by ``Field(default=[])``, of which each file gets a copy: a ``default_factory`` takes longer, as pydantic reads its signature.
    """

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Loader(yaml.CSafeLoader):
    """The safe C loader, which also rejects duplicate keys, as the YAML specification demands (PyYAML keeps the last one).

    Texts, lists and mappings, of which our files consist, are made here: PyYAML asks more of each, and takes several times as long.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        return self._made(node, {})

    def _made(self, node: yaml.Node, made: dict[yaml.Node, Any]) -> Any:
        """Return what *node* stands for. *made* holds the lists and mappings begun so far: one that has a name may stand again."""
        if node.tag == _TEXT and isinstance(node, yaml.ScalarNode):
            return node.value
        if node in made:
            return made[node]
        if node.tag == _LIST and isinstance(node, yaml.SequenceNode):
            made[node] = items = []
            items += [self._made(one, made) for one in node.value]
            return items
        if node.tag == _MAPPING and isinstance(node, yaml.MappingNode) and all(key.tag == _TEXT for key, _ in node.value):
            entries: dict[str, Any] = {}
            made[node] = entries
            entries |= {key.value: self._made(value, made) for key, value in node.value}
            if len(entries) < len(node.value):
                _check_keys(node)
            return entries
        return self.construct_object(node, deep=True)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        if isinstance(node, yaml.MappingNode):  # not: ``!!map [a]``
            _check_keys(node)  # before merge keys (``<<``) are resolved, as overriding a merged key is allowed
        return super().construct_mapping(node, deep=deep)


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if (key.tag, str(key.value)) in seen:
            raise yaml.MarkedYAMLError(problem=f"key {key.value!r} is given twice", problem_mark=key.start_mark)
        seen.add((key.tag, str(key.value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlDocument:
    """A parsed file: its plain data, and the node tree with the line numbers. ``file`` is the file name without its folder."""

    file: str
    data: Any
    node: yaml.Node | None

    def line(self, path: KeyPath = ()) -> int:
        """Return the 1-based line of the value at *path*, or of its nearest existing ancestor."""
        node = self.node
        if node is None:
            return 1
        line = node.start_mark.line
        for step in path:
            found = _child(node, step)
            if found is None:
                break
            line, node = found
        return int(line) + 1

    def where(self, path: KeyPath = ()) -> str:
        """Return ``file:line`` of *path*, for error messages."""
        return f"{self.file}:{self.line(path)}"

    def text_lines(self) -> dict[str, int]:
        """Return the 1-based line of each scalar value in the file; for a repeated one, its first line."""
        lines: dict[str, int] = {}
        open_nodes = [self.node] if self.node else []
        while open_nodes:
            node = open_nodes.pop()
            if isinstance(node, yaml.ScalarNode):
                line = node.start_mark.line + 1
                lines[node.value] = min(line, lines.get(node.value, line))
            elif isinstance(node, yaml.SequenceNode):
                open_nodes.extend(node.value)
            else:
                open_nodes.extend(value for _, value in node.value)
        return lines


def _child(node: yaml.Node, step: str | int) -> tuple[int, yaml.Node] | None:
    """Return the line and node one step down: for a mapping the line of the key, for a sequence that of the item; None if missing."""
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark.line, value) for key, value in node.value if key.value == str(step)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step].start_mark.line, node.value[step]
    return None


def read_document(source: Traversable | Path) -> YamlDocument:
    """Read one YAML document.

    Raises ``ConfigError`` (file, line) if the file is missing, not UTF-8 or not YAML, or has a duplicate key.
    """
    file = source.name or str(source)  # "." has no name
    try:
        text = source.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror or 'not a file'}", where=file, remedy="Check the path.") from error
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", where=file, remedy="Save the file as UTF-8.") from error
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            data = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _syntax_error(file, text, error) from error
    return YamlDocument(file=file, data=data, node=node)


def _syntax_error(file: str, text: str, error: Exception) -> ConfigError:
    problem, line = "not valid YAML", 1
    if isinstance(error, yaml.MarkedYAMLError):
        problem = f"not valid YAML: {error.problem}"
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
    elif isinstance(error, yaml.reader.ReaderError):
        problem = "not valid YAML: a control character"
        line = text.count("\n", 0, int(error.position)) + 1
    elif isinstance(error, RecursionError):
        problem = "nested too deeply"
    elif isinstance(error, ValueError):
        problem = "holds a number or date that does not exist"
    return ConfigError(problem, where=f"{file}:{line}", remedy="Correct the file.")


def validate_document(document: YamlDocument, model: type[ModelT], *, noun: str = "key") -> ModelT:
    """Validate *document* as a *model*.

    Raises ``ConfigError`` that names file, line and key of the first three faults, never a value. *noun* is what a key of such a
    file is called in messages.
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        faults = schema_faults(error, model, noun=noun)
        shown = [fault.said("the document", line=document.line(fault.path)) for fault in faults[:_SHOWN_FAULTS]]
        more = f" (and {len(faults) - len(shown)} more)" if len(faults) > len(shown) else ""
        where = document.where(faults[0].path)
        raise ConfigError("; ".join(shown) + more, where=where, remedy=f"Correct the {noun}s named here.") from error


def load_yaml(source: Traversable | Path, model: type[ModelT], *, noun: str = "key") -> ModelT:
    """Read and validate one YAML file. Raises ``ConfigError`` with ``file:line`` and the key path."""
    return validate_document(read_document(source), model, noun=noun)


_PACKAGE: Final = Path(__file__).parents[1]


def load_data(package: str, path: str, model: type[ModelT]) -> ModelT:
    """Read the file *path* in the folder ``data`` of *package* ("words/en.yaml"), as ``load_yaml`` does."""
    return load_yaml(files(package).joinpath("data", *path.split("/")), model)


@cache
def data_folder(name: str) -> Path:
    """Return the folder *name* of the shipped data: ``taxonomy``, ``prompts`` or ``annotation_app``.

    A wheel contains it as ``piiloom/data/<name>``. A checkout, and so an editable install, has it at the top level.
    """
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name
