"""What a corpus's tags mean: rules that a person can edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field

from piiloom.surrogates.mentions import Gender, Same

USE_FROM: Final = 0.6  # rules learnt with less confidence are written with ``use: false``
Context = Literal["", "mention", "document"]
Unlisted = Literal["read", "report"]
# What a file must keep to; ``mapping_file`` reads the fields of rules and notes as they stand here.
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One pattern (``tag`` or ``regex``) and what stands there.

    In a ``tag``, ``{index}`` and ``{number}`` stand for what numbers the tag, ``{original}`` for a value that it bears, ``{date}`` for
    a date; of "Dr. {letter}" only the letter is replaced. ``index`` is for tags that are one by themselves ("[Z]"). ``context``: the
    text around decides the kind, at each mention or once for a document, and ``kind`` is what is taken where it does not. ``line`` is
    the place in the file, for errors.
    """

    tag: str = ""
    regex: str = ""
    kind: str
    role: str = ""
    index: str = ""
    same: Same = "document"
    form: str = ""
    gender: Gender | None = None
    plural: bool = False
    context: Context = ""
    use: bool = True
    confidence: Share = 1.0
    count: Count = 0
    documents: Count = 0
    examples: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """The pattern, which tells rules apart."""
        return self.tag or self.regex


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A tag that is no rule: unknown, or a bracket that means what it says."""

    tag: str
    count: Count = 0
    documents: Count = 0
    why: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """All rules. ``grammars`` are the built-in forms looked for (None: all), ``languages`` those whose words are known.

    ``unlisted="read"``: a tag that is in no rule is read by the vocabulary; "report": it counts as unknown.
    """

    rules: tuple[Rule, ...] = ()
    unknown: tuple[Noted, ...] = ()
    left_alone: tuple[Noted, ...] = ()
    grammars: tuple[str, ...] | None = None
    languages: tuple[str, ...] = ("en", "nl", "pt", "de", "fr", "es", "it", "sv")
    unlisted: Unlisted = "read"
    file: str = field(default="", compare=False)
