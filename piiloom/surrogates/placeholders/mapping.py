"""The mapping of a corpus: user-editable rules that say what its placeholders mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field

from piiloom.surrogates.mentions import Gender, Same
from piiloom.surrogates.placeholders.vocabulary_files import LANGUAGES

USE_FROM: Final = 0.6  # rules learned with less confidence are written with ``use: false``
Context = Literal["", "mention", "document"]
Unlisted = Literal["read", "report"]
# Constraints for the file: ``mapping_file`` builds its schema from the annotations of ``Rule`` and ``Noted``.
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One pattern (exactly one of ``tag`` and ``regex``) and the meaning of what it matches.

    In a ``tag``, ``{index}`` and ``{number}`` match what numbers the tag, ``{original}`` a value that it contains, ``{date}`` and
    ``{year}`` a date, ``{digits}`` what a mask leaves; of "Dr. {letter}" only the letter is replaced. ``index`` is a fixed index for
    a tag without a token ("[Z]"). With ``context`` the surrounding text decides the kind, for each mention or once per document, and
    ``kind`` is the fallback. ``language`` is that of the tag's words where the texts are in another, ``runner_up`` how another
    language reads them ("number (fr)"); both only inform. ``line`` is the line in the file (0 if there is none), for error messages.
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
    language: str = ""
    runner_up: str = ""
    count: Count = 0
    documents: Count = 0
    examples: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """The pattern, which identifies the rule."""
        return self.tag or self.regex


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A tag without a rule: unknown, or left alone as ordinary text."""

    tag: str
    count: Count = 0
    documents: Count = 0
    why: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """All rules and settings of a corpus.

    ``grammars`` names the built-in forms to look for (None: all), ``languages`` the vocabularies to use, the most trusted first.
    ``unlisted`` says what happens to a tag without a rule: "read" interprets it by the vocabulary, "report" counts it as unknown.
    ``cautions`` are what the user should hear about a mapping that was learned; they are not written to the file.
    """

    rules: tuple[Rule, ...] = ()
    unknown: tuple[Noted, ...] = ()
    left_alone: tuple[Noted, ...] = ()
    grammars: tuple[str, ...] | None = None
    languages: tuple[str, ...] = LANGUAGES
    unlisted: Unlisted = "read"
    file: str = field(default="", compare=False)
    cautions: tuple[str, ...] = field(default=(), compare=False)
