"""Find prompt templates: the shipped ones, and the user's own that replace them.

A template file ``<name>.v<n>.j2`` has two blocks, ``system`` and ``user``. Text that is the same in all calls of a stage
belongs in ``system`` (providers cache stable prefixes), the rest in ``user``. The newest version of a name is used. A library
is immutable: opening a folder again after a file was edited gives another library.

Besides, there are instructions: templates of the same form that no stage asks with, but that stand in training sets for language
models (``piiloom.corpus.formats``). They cannot be replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import data_folder
from piiloom.prompts.compiling import PromptTemplate
from piiloom.prompts.overlays import FILE_NAME, OverlayFile, checked, read_overlay


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
