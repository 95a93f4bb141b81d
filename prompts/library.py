"""Finding, rendering and fingerprinting prompt templates.

A template file ``<name>.v<n>.j2`` has two blocks, ``system`` and ``user``. What stays the same over the calls of a stage
stands in ``system`` (providers cache stable prefixes), what changes stands in ``user``. The newest version of a name is
the one in use; older versions stay for runs that were made with them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateError

from foundation.errors import ConfigError

FILE_NAME = re.compile(r"(?P<name>[a-z_]+)\.v(?P<version>\d+)\.j2")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """A template's id (``situation.v1``) and the SHA-256 of its source."""

    id: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPrompt:
    """What is sent, and the SHA-256 of exactly that."""

    system: str
    user: str
    sha256: str


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Prompts are plain text for a model, never HTML: escaping would change the values they carry.
    return Environment(
        loader=PackageLoader("prompts", "templates"),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


@lru_cache(maxsize=1)
def _newest() -> dict[str, str]:
    found: dict[str, int] = {}
    for entry in resources.files("prompts").joinpath("templates").iterdir():
        match = FILE_NAME.fullmatch(entry.name)
        if match:
            found[match["name"]] = max(found.get(match["name"], 0), int(match["version"]))
    return {name: f"{name}.v{version}" for name, version in sorted(found.items())}


def template_names() -> tuple[str, ...]:
    """List the names that have a template, sorted."""
    return tuple(_newest())


@lru_cache(maxsize=64)
def find_template(name: str) -> PromptTemplate:
    """Look up the newest version of *name*; raises ``ConfigError`` for an unknown one."""
    template_id = _newest().get(name)
    if template_id is None:
        raise ConfigError(f"there is no prompt template named {name!r}", remedy=f"Known: {', '.join(template_names())}")
    source = resources.files("prompts").joinpath("templates", f"{template_id}.j2").read_bytes()
    return PromptTemplate(id=template_id, sha256=hashlib.sha256(source).hexdigest())


def render(template: PromptTemplate, variables: Mapping[str, Any]) -> RenderedPrompt:
    """Fill *template*; raises ``ConfigError`` naming the template when a variable is missing."""
    try:
        loaded = _environment().get_template(f"{template.id}.j2")
        system, user = ("".join(loaded.blocks[block](loaded.new_context(dict(variables)))).strip() for block in ("system", "user"))
    except (TemplateError, KeyError) as error:
        raise ConfigError(f"cannot be rendered: {error}", where=f"prompt template {template.id}") from error
    sha256 = hashlib.sha256(f"{system}\0{user}".encode()).hexdigest()
    return RenderedPrompt(system=system, user=user, sha256=sha256)
