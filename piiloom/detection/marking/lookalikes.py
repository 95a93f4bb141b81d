"""Which of what looks like a marker in an answer is text, because the text itself has it; see ``answer_reading``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from piiloom.detection.marking.marker_sites import Site
from piiloom.detection.marking.tokens import Token, token_changes, tokens_of


def texts_like(sites: Sequence[Site], ours: Sequence[Site]) -> Counter[str]:
    """How often the text itself, whose sites are *ours*, has what looks like one of *sites*."""
    surfaces = {key_of(site) for site in sites}
    return Counter(key for site in ours if (key := key_of(site)) in surfaces)


def key_of(site: Site) -> str:
    """By what a text that looks like a marker is known again; a model may change its case."""
    return site.surface.casefold()


def text_among(
    body: str, original: str, ours: Sequence[Site], sites: Sequence[Site], texts: Counter[str], *, escapes: bool
) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of those *sites* that are text, and of those of them that *original* has, in which *ours* look like markers.

    *escapes*: all that are escaped are text.
    """
    alike = frozenset(number for number, site in enumerate(sites) if key_of(site) in texts)
    escaped = frozenset(
        number for number, site in enumerate(sites) if escapes and site.slashes % 2 and (number in alike or site.marker.misspelt)
    )
    if not alike:
        return escaped, frozenset()
    matching = _Matching(body, original, ours, sites)
    matching.match(escaped & alike)
    matching.match(alike - escaped, between=True)
    found = frozenset(matching.found)
    return escaped | found, found


class _Matching:
    """Finds the sites of an answer that stand where *original* has what looks like them; once found, a site stays with its place."""

    def __init__(self, body: str, original: str, ours: Sequence[Site], sites: Sequence[Site]) -> None:
        self._body, self._sites = body, sites
        self._ours: list[Token] = []
        done = 0
        for site in ours:
            self._ours += (*tokens_of(original[done : site.start - site.slashes]), Token(0, 0, key_of(site)))
            done = site.end
        self._ours += tokens_of(original[done:])
        self.found: dict[int, int] = {}  # number of a site: number of the token of the original

    def match(self, candidates: frozenset[int], *, between: bool = False) -> None:
        """Find *candidates*, besides what has been found; *between*: those only that stand between the same words or signs as there."""
        if not candidates:
            return
        ours = self._ours.copy()
        for number, place in self.found.items():
            ours[place] = ours[place]._replace(key=_name(number))
        theirs, numbers = self._theirs(candidates)
        changes = [one for one in token_changes(ours, theirs) if one[0]]
        stayed = {at: first + at - start for _, first, _, start, end in changes for at in range(start, end)}
        for at, place in stayed.items():
            if at in numbers and (not between or _between_the_same(ours, place, theirs, at, stayed)):
                self.found[numbers[at]] = place

    def _theirs(self, candidates: frozenset[int]) -> tuple[list[Token], dict[int, int]]:
        """The tokens of the answer without all other sites, and which of them are sites."""
        tokens: list[Token] = []
        numbers: dict[int, int] = {}
        done = 0
        for number, site in enumerate(self._sites):
            tokens += tokens_of(self._body[done : site.start - site.slashes])
            if number in candidates or number in self.found:
                numbers[len(tokens)] = number
                tokens.append(Token(0, 0, _name(number) if number in self.found else key_of(site)))
            done = site.end
        return [*tokens, *tokens_of(self._body[done:])], numbers


def _between_the_same(ours: Sequence[Token], place: int, theirs: Sequence[Token], at: int, stayed: Mapping[int, int]) -> bool:
    """Whether the same has stayed before and behind a token in both texts, but for blanks and tokens that equal it."""
    for step in (-1, 1):
        near, near_at = _next_other(ours, place, step), _next_other(theirs, at, step)
        if near_at is None or near is None:
            if near_at is not near:
                return False
        elif stayed.get(near_at) != near:
            return False
    return True


def _next_other(tokens: Sequence[Token], at: int, step: int) -> int | None:
    """The next token before or behind one that is neither blank nor equal to it; None if there is none."""
    key = tokens[at].key
    at += step
    while 0 <= at < len(tokens):
        if tokens[at].key.strip() and tokens[at].key != key:
            return at
        at += step
    return None


def _name(number: int) -> str:
    """A key that only one site has."""
    return f"<<{number}>>"


def beside_their_like(sites: Sequence[Site], kept: frozenset[int], *, escapes: bool) -> set[int]:
    """The numbers of those markers that touch an equal text, or an equal marker that does, where no escape says which of them is which."""
    found: set[int] = set()
    first = 0
    for number in range(1, len(sites) + 1):
        if number < len(sites) and _touch(sites[number - 1], sites[number]):
            continue
        row = range(first, number)
        texts = [sites[at].slashes % 2 for at in row if at in kept]
        if texts:
            found.update(at for at in row if at not in kept and not (escapes and min(texts) > sites[at].slashes % 2))
        first = number
    return found


def _touch(one: Site, following: Site) -> bool:
    return one.end == following.start - following.slashes and key_of(one) == key_of(following)
