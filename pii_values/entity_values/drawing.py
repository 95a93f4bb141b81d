"""Draw a value of a catalogue entry, with the check digits that its validator asks for."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from typing import Final

from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.entity_values.masks import fill_mask
from piiloom.pii_values.numbering.choices import Stream
from piiloom.pii_values.numbering.holders import Holder, rule_of
from piiloom.taxonomy.entities.catalogue_file import NO_VALIDATOR
from piiloom.taxonomy.entities.entity import UNIVERSAL, Entity
from piiloom.taxonomy.entities.validators.registry import Validator, find_validator

_TRIES: Final = 20_000  # of a mask until the validator accepts it; two check digits of modulo 97 take 97 on average

Draw = Callable[[str, random.Random], str]


def draw_value(entity: Entity, locale: str, rng: random.Random) -> str:
    """Draw a value of *entity* as people write it in *locale*.

    Raises ``ConfigError`` (file, line) if the entry has no generator, or none of its values passes the validator.
    """
    accepts = _validator(entity, locale)
    for _ in range(_TRIES):
        value = _drawn(entity, locale, rng)
        if accepts is None or accepts(value):
            return value
    raise ConfigError(f"the generator of {entity.id} gives nothing that {entity.validator} accepts", where=entity.where)


def spoilt_value(entity: Entity, locale: str, rng: random.Random) -> str:
    """Draw a value of *entity* and change one digit so that its validator refuses it.

    Raises ``ConfigError`` (file, line) if it has no validator, or one that refuses hardly anything.
    """
    accepts = _validator(entity, locale)
    if accepts is None:
        raise ConfigError(f"{entity.id} has no validator, so no value of it is faulty", where=entity.where)
    for _ in range(_TRIES):
        value = draw_value(entity, locale, rng)
        places = [at for at, character in enumerate(value) if character.isdigit()]
        if places:
            at = rng.choice(places)
            other = rng.choice([digit for digit in "0123456789" if digit != value[at]])
            changed = value[:at] + other + value[at + 1 :]
            if not accepts(changed):
                return changed
    raise ConfigError(f"no digit of {entity.id} can be changed so that {entity.validator} refuses it", where=entity.where)


@lru_cache(maxsize=4096)
def _validator(entity: Entity, locale: str) -> Validator | None:
    if entity.validator is None or not entity.patterns or any(pattern.validator == NO_VALIDATOR for pattern in entity.patterns):
        return None
    return find_validator(entity.validator, locale[3:] if entity.locale == UNIVERSAL else entity.locale[3:])


def _drawn(entity: Entity, locale: str, rng: random.Random) -> str:
    generator = entity.generator
    if generator is None:
        raise ConfigError(f"{entity.id} has no generator", where=entity.where, remedy="Give it masks, values, a rule or a drawer")
    if generator.masks:
        return fill_mask(rng.choice(generator.masks), rng)
    if generator.values:
        return rng.choice(generator.values)
    if generator.rule is not None:
        return _rule(generator.rule, entity)(_holder(rng))
    return _drawer(generator.draw or "", entity)(locale, rng)


def _rule(place: str, entity: Entity) -> Callable[[Holder], str]:
    try:
        return rule_of(place)
    except (ImportError, AttributeError):
        raise ConfigError(f"there is no rule {place!r}", where=entity.where, remedy="Name one of pii_values/numbering") from None


def _holder(rng: random.Random) -> Holder:
    born = REFERENCE_DATE - timedelta(days=rng.randint(366, 92 * 365))
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    given, family = ("".join(rng.choices(letters, k=6)) for _ in range(2))
    return Holder(Stream(rng), born, rng.random() < 0.5, given, family, REFERENCE_DATE)


def _drawer(name: str, entity: Entity) -> Draw:
    from piiloom.pii_values.entity_values.drawers import DRAWERS  # noqa: PLC0415 - reads the words of locales

    if name not in DRAWERS:
        raise ConfigError(f"there is no drawer {name!r}", where=entity.where, remedy=f"Known: {', '.join(sorted(DRAWERS))}")
    return DRAWERS[name]
