"""Draw another value in the place of a given one: of the same type, subtype and form.

A value with digits keeps its layout ("$52,400 a year", "09 Aug 2015", "4111 1111 1111 1111"), its check digits are right, a name keeps its
parts, and all others are drawn from the catalogue of values until one has the form of the old one. Nothing is known of the text
around it but an article ("an engineer"): see ``AfterArticle``. Kin words and pronouns elsewhere may no longer agree with the value.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from piiloom.foundation.articles import article
from piiloom.foundation.errors import PiiloomError
from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.drawers import ValueKind
from piiloom.pii_values.kinds import kinds_for
from piiloom.pii_values.lexicons import Weighted
from piiloom.pii_values.persona import draw_persona
from piiloom.pii_values.rewriting.calendars import has_calendar, other_words
from piiloom.pii_values.rewriting.date_shifts import another_moment
from piiloom.pii_values.rewriting.names import another_name, form_distance, recased
from piiloom.pii_values.rewriting.values import (
    another_age,
    another_code,
    another_measure,
    guessed_subtype,
    is_card,
    is_iban,
    layout,
    renumbered,
    unlike,
)
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import load_locales

_TRIES: Final = 40
_DRAWS: Final = 60  # from the catalogue, of which the one with the nearest form is taken
_OF_ONE_PERSON: Final = 6
_ADULT: Final = (18, 89)  # years of age
_USUAL: Final = 120  # draws of each subtype by which the subtype of other values is guessed
_DEFAULT_LOCALE: Final = "en_US"
_ARTICLE: Final = re.compile(r"(?i)(?<!\w)(an?)\s+$")
_HANDLE: Final = re.compile(r"[\d_@]|^[a-z][a-z.]*$")
# Codes whose every layout is right: an address of another length is an address.
_FREE_LAYOUT: Final = frozenset({"email", "ip_address", "wallet"})


@dataclass(frozen=True, slots=True)
class AfterArticle:
    """What may not stand behind the English indefinite article at the end of *before*, and all that is in *avoid*.

    To be passed as ``avoid`` to ``redraw``: "an " admits "engineer", not "nurse". Without an article it is *avoid*.
    """

    before: str
    locale: str
    avoid: Container[str]

    def __contains__(self, value: object) -> bool:
        if value in self.avoid:
            return True
        found = _ARTICLE.search(self.before) if self.locale.startswith("en") else None
        return found is not None and isinstance(value, str) and article(value, self.locale) != found[1].lower()


def redraw(
    entity_type: str,
    subtype: str | None,
    value: str,
    *,
    locale: str,
    rng: random.Random,
    taxonomy: Taxonomy,
    avoid: Container[str] = frozenset(),
) -> str | None:
    """Draw another value for *value*, neither equal to it (but for case) nor in *avoid*; None if none is found.

    Values of a locale without any are drawn for another of its language, or en_US. A subtype that is None or unknown is guessed from
    the value: a code by its shape and check digits, others by what the catalogue often draws. Where that tells nothing, any subtype serves
    whose values have the form of *value*. Equal arguments (and states of *rng*) give equal values.
    """
    if not value.strip():
        return None
    known = _known_locale(locale)
    taxonomy_type = taxonomy.types.get(entity_type)
    if taxonomy_type is None:
        return None
    subtypes = {one.name: one for one in taxonomy_type.subtypes}
    chosen = subtype if subtype in subtypes else _guessed(entity_type, value, known, taxonomy)
    proper = chosen in subtypes and subtypes[chosen].form == "proper" if chosen else entity_type in {"name", "location", "organization"}
    task = _Task(entity_type, chosen, value, known, rng, taxonomy, proper=proper, written=_written_locale(locale, known))
    for candidate in _candidates(task):
        text = _kept_blanks(candidate, value)
        if text.casefold() != value.casefold() and text not in avoid:
            return text
    return None


@dataclass(frozen=True, slots=True)
class _Task:
    entity_type: str
    subtype: str | None
    value: str
    locale: str
    rng: random.Random
    taxonomy: Taxonomy
    proper: bool
    written: str = _DEFAULT_LOCALE  # whose words and order of dates the value has; there are more of them than locales with values


def _candidates(task: _Task) -> Iterator[str]:
    """Yield values, the ones that fit best first: in the layout of the old one, then of the catalogue by form."""
    if task.entity_type == "code":
        yield from _codes(task)
        return
    if task.entity_type == "name" and task.subtype != "username":
        yield from _tried(lambda: another_name(task.value, task.subtype, task.locale, task.rng))
        return
    if task.subtype == "credit_score":
        yield from (text for text in _drawn(task) if layout(text) == layout(task.value))
    yield from _tried(lambda: _rewritten(task))
    yield from _by_form(task)


def _tried(write: Callable[[], str | None]) -> Iterator[str]:
    for _ in range(_TRIES):
        text = write()
        if text is None:
            return
        yield text


def _rewritten(task: _Task) -> str | None:
    value, locale, rng = task.value, task.written, task.rng
    digits = any(char.isdigit() for char in value)
    match task.entity_type:
        case "datetime":
            return another_moment(value, locale, rng)
        case "age":
            if digits:
                return another_age(value, rng)
            words = [
                other_words(value, spoken, lambda n: unlike(n, *_ADULT, rng) if n >= _ADULT[0] else n) for spoken in (locale[:2], "en")
            ]
            return next((new for new in words if new is not None), None)
        case "appearance" if digits:
            return another_measure(value, rng)
        case "finance" if digits:
            # A card or an account among the amounts, as in imported files.
            return another_code(value, None, rng) if is_card(value) or is_iban(value) else renumbered(value, rng)
        case _:
            return None


def _codes(task: _Task) -> Iterator[str]:
    drawn = _drawn(task) if task.subtype else iter(())
    if task.subtype in _FREE_LAYOUT:
        yield from (recased(text, task.value, proper=True) or text for text in drawn if _alike(text, task.value))
    else:
        checks = is_card(task.value), is_iban(task.value)
        yield from (text for text in drawn if layout(text) == layout(task.value) and (is_card(text), is_iban(text)) == checks)
    yield from _tried(lambda: another_code(task.value, task.subtype, task.rng))


def _alike(new: str, old: str) -> bool:
    """Whether two addresses are of one kind: both IPv4, IPv6, e-mail, or wallets of one coin."""
    return [sign in new for sign in (":", "@", "0x", "bc1")] == [sign in old for sign in (":", "@", "0x", "bc1")]


def _by_form(task: _Task) -> Iterator[str]:
    """Yield catalogue values by how near their form is to that of the old value; of an unknown subtype only those that are near."""
    furthest = max(2, len(task.value.split()) // 2 + 1)
    found: dict[str, int] = {}
    for text in _drawn(task):
        written, apart = recased(text, task.value, proper=task.proper), form_distance(text, task.value)
        if written is None:  # "Swedish" for "danish", in a text without capitals: only if nothing else is found
            written, apart = text.lower(), apart + 1
        if not apart:
            yield written
        if task.subtype is not None or apart <= furthest:
            found.setdefault(written, apart)
    yield from sorted(found, key=lambda text: found[text])


def _drawn(task: _Task, draws: int = _DRAWS) -> Iterator[str]:
    """Yield values of the catalogue for one person after another."""
    try:
        kinds: Weighted[ValueKind] = kinds_for(task.entity_type, None if task.subtype is None else (task.subtype,), task.taxonomy)
        for number in range(draws):
            if not number % _OF_ONE_PERSON:
                persona = draw_persona(task.rng, task.locale)
            yield kinds.draw(task.rng).draw(persona, task.rng, number % _OF_ONE_PERSON)
    except PiiloomError:  # the type or subtype has no values, or none that fits the person
        return


def _guessed(entity_type: str, value: str, locale: str, taxonomy: Taxonomy) -> str | None:
    if entity_type == "code":
        return guessed_subtype(value)
    if entity_type == "name":
        return "username" if _HANDLE.search(value) and " " not in value else None
    whole, last = _usual(taxonomy, entity_type, locale)
    folded = value.casefold().strip()
    return whole.get(folded) or last.get(folded.split()[-1])


@lru_cache(maxsize=128)
def _usual(taxonomy: Taxonomy, entity_type: str, locale: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the subtype of values that the catalogue often draws, by the whole value and by its last word ("diagnosis")."""
    rng = derive_rng("usual values", entity_type, locale)
    whole: dict[str, str] = {}
    last: dict[str, Counter[str]] = {}
    for subtype in taxonomy.types[entity_type].subtypes:
        drawn = _drawn(_Task(entity_type, subtype.name, "", locale, rng, taxonomy, proper=False), _USUAL)
        for text in (*subtype.examples, *drawn):
            folded = text.casefold()
            whole.setdefault(folded, subtype.name)
            last.setdefault(folded.split()[-1], Counter())[subtype.name] += 1
    return whole, {word: counts.most_common(1)[0][0] for word, counts in last.items()}


def _kept_blanks(text: str, value: str) -> str:
    """Return *text* with the blanks that *value* begins and ends with."""
    bare = text.strip()
    return value[: len(value) - len(value.lstrip())] + bare + value[len(value.rstrip()) :]


def _known_locale(locale: str) -> str:
    known = load_locales()
    if locale in known:
        return locale
    language = locale.partition("_")[0].partition("-")[0].lower()
    return next((code for code, one in known.items() if one.language == language), _DEFAULT_LOCALE)


def _written_locale(locale: str, known: str) -> str:
    """Return *locale* as "de_DE" if the words of its dates are known, else *known*."""
    language, _, country = locale.replace("-", "_").partition("_")
    return f"{language.lower()}_{country.upper()}" if has_calendar(language.lower()) else known
