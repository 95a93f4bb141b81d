"""A prompt template that is compiled once and rendered many times.

Rendering is optimized, because it blocks the event loop of a run: both blocks are called directly on one Jinja context, and a
system block without variables is rendered only once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import TracebackType
from typing import Any

from jinja2 import Environment, StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined, UndefinedError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from piiloom.foundation.errors import ConfigError

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
