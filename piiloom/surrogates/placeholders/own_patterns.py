"""Patterns of a user's mapping that the built-in grammars do not find: regular expressions, and tags of another form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from piiloom.foundation.errors import DataError
from piiloom.surrogates.placeholders.families import IN_INITIALS, pattern_of, sample
from piiloom.surrogates.placeholders.form_verdicts import mask_form
from piiloom.surrogates.placeholders.grammar_files import Grammar
from piiloom.surrogates.placeholders.mapping import Mapping, Rule
from piiloom.surrogates.placeholders.reading import Meaning
from piiloom.surrogates.placeholders.scanning import Candidate, Scanner
from piiloom.surrogates.placeholders.verdicts import MASK, Verdict

if TYPE_CHECKING:
    import regex

_OWN = Grammar("own", "signs", "", "", 1.0, 1.0, "none")
_SECONDS = 1.0  # time limit for one pattern on one document, plus as much again for each million characters

Own = tuple[Verdict, Rule | None]


class OwnPatterns:
    """The compiled patterns of a mapping's ``regex:`` rules and of the ``tag:`` rules that no grammar of *scanner* finds.

    Rules with ``use=False`` are skipped. The object is false if there are no patterns.
    """

    def __init__(self, mapping: Mapping, scanner: Scanner) -> None:
        self._file = mapping.file or "mapping"
        self._patterns: list[tuple[regex.Pattern[str], Rule]] = []
        for rule in mapping.rules:
            if not rule.use:
                continue
            if rule.regex:
                self._patterns.append((_compiled(rule.regex), rule))
            elif not _scanned(rule.tag, scanner):
                source = pattern_of(rule.tag)
                edges = (
                    r"(?<!\w)" if rule.tag[:1].isalnum() else "",
                    r"(?!\w)" if rule.tag[-1:].isalnum() or rule.tag.endswith("}") else "",
                )
                self._patterns.append((_compiled(source.join(edges)), rule))

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def merged(self, text: str, candidates: Iterable[Candidate]) -> Iterator[tuple[Candidate, Own | None]]:
        """Yield the matches in *text* merged with *candidates*, in text order and without overlaps.

        Of overlapping ones the first to start is kept, then the longer, then the one of the user's pattern. A match comes with its
        verdict and rule, a candidate with None. Raises ``DataError`` if a pattern exceeds the time limit.
        """
        found: list[tuple[Candidate, Own | None]] = [*self._matches(text), *((candidate, None) for candidate in candidates)]
        found.sort(key=lambda pair: (pair[0].start, -pair[0].end, pair[1] is None))
        reached = 0
        for candidate, own in found:
            if candidate.start >= reached:
                yield candidate, own
                reached = candidate.end

    def _matches(self, text: str) -> Iterator[tuple[Candidate, Own]]:
        limit = _SECONDS * (1 + len(text) / 1e6)
        for pattern, rule in self._patterns:
            try:
                matches = list(pattern.finditer(text, timeout=limit))
            except TimeoutError as error:
                raise DataError(
                    f"the pattern of this rule took more than {limit:.0f} s on one document",
                    where=f"{self._file}:{rule.line}" if rule.line else self._file,
                    remedy="Make it simpler: avoid a repeat inside a repeat, such as (a+)+.",
                ) from error
            for match in matches:
                groups = match.groupdict()
                start, end = match.span("letter") if groups.get("letter") else match.span()
                if end > start:
                    yield Candidate(start, end, _OWN, match.group()), _own(rule, groups, match.group())


def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex  # noqa: PLC0415 - most corpora need no such pattern, and loading it takes 15 ms

    return regex.compile(pattern)


def _own(rule: Rule, groups: dict[str, str | None], literal: str) -> Own:
    index = re.sub(r"\s+", "", groups.get("index") or groups.get("letter") or rule.index).casefold()
    role = (groups.get("role") or rule.role).casefold()
    form = rule.form or (mask_form(rule.kind, literal) if rule.role == MASK else "")
    meaning = Meaning(rule.kind, role, index, rule.same, form, rule.gender, rule.plural, 1.0, rule.context, groups.get("number") or "")
    return Verdict("known", rule.name, meaning, groups.get("original") or "", rule.confidence), rule


def _scanned(tag: str, scanner: Scanner) -> bool:
    """Whether the built-in grammars find an example of *tag* as exactly one candidate."""
    text = sample(tag)
    if "{letter}" in tag or IN_INITIALS in tag:
        return any(candidate.literal.rstrip(".") == text.rstrip(".") for candidate in scanner.scan(text))
    return any((candidate.start, candidate.end) == (0, len(text)) for candidate in scanner.scan(text))
