"""The locales: which names of locales are valid, and language, money, measures and dates of those that ``generate`` writes for.

One entry of ``taxonomy/locales.yaml`` is one locale for which values and, where ``composer`` says so, whole texts come from our own word
lists. What is known of any other locale comes from Unicode CLDR by Babel. ``taxonomy/locale_codes.yaml`` has all languages and countries.
``resolve_locale`` reads every locale that a user writes, in an option, a file of settings, an argument or a row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field, StringConstraints

from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import EAST, LETTERS_A_WORD, is_unspaced
from piiloom.foundation.yaml_files import FileModel, data_folder, load_yaml

if TYPE_CHECKING:
    from babel import Locale as CldrLocale

Measures = Literal["imperial", "metric"]
DateOrder = Literal["mdy", "dmy", "ymd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Locale:
    """One locale. ``composer`` says whether the embedded composer writes texts for it.

    ``listed`` is False for a locale of CLDR of which ``locales.yaml`` has no entry; ``language_name`` then says how prompts name it.
    ``unspaced``: its script has no blanks between words.
    """

    code: str
    listed: bool = True
    language: str
    language_name: str
    country: str
    currency: str
    currency_symbol: str
    measures: Measures
    date_order: DateOrder
    faker: str
    phone_region: str
    composer: bool
    unspaced: bool = False

    @property
    def has_word_lists(self) -> bool:
        """Whether we have lists of common words of the language, which some checks of texts need."""
        return self.listed or any(one.language == self.language for one in load_locales().values())

    @property
    def inflects(self) -> bool:
        """Whether values may take other endings in a text. Ours are written so that they never must."""
        return not self.has_word_lists and not self.unspaced

    @property
    def text_language(self) -> str:
        """The language as a model is told it that writes a text with marked values."""
        return f"{self.language_name} ({_ENDINGS})" if self.inflects else self.language_name


class _LocaleEntry(FileModel):
    language: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}$")]
    language_name: str
    country: str
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    currency_symbol: str
    measures: Measures
    date_order: DateOrder
    faker: str
    phone_region: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    composer: bool


class _LocalesFile(FileModel):
    locales: dict[str, _LocaleEntry] = Field(min_length=1)


@lru_cache(maxsize=1)
def load_locales() -> Mapping[str, Locale]:
    """All locales by code; raises ``ConfigError`` (file, line, key) when their file is malformed."""
    found = load_yaml(data_folder("taxonomy") / "locales.yaml", _LocalesFile)
    return MappingProxyType({code: Locale(code=code, **entry.model_dump()) for code, entry in found.locales.items()})


def get_locale(code: str) -> Locale:
    """Return the locale that *code* names: one of ours, else one of CLDR. Raises ``UsageError``, see ``resolve_locale``."""
    known = load_locales()
    if code in known:
        return known[code]
    try:
        return known[resolve_locale(code, known)]
    except UsageError:
        return _of_cldr(resolve_locale(code))


def cldr_locale(code: str) -> CldrLocale:
    """Return CLDR's data of the locale *code* ("de_DE"), with its usual script; raises ``UsageError`` if CLDR has none."""
    from babel import Locale as CldrLocale  # noqa: PLC0415 - most runs need no locale of CLDR
    from babel import UnknownLocaleError  # noqa: PLC0415

    try:
        return CldrLocale.parse(code.replace("no_", "nb_"))
    except (UnknownLocaleError, ValueError):
        remedy = "Choose a language and a country in which it is spoken, as in de_CH."
        raise UsageError(f"Unicode CLDR has no locale {code!r}", remedy=remedy) from None


@lru_cache(maxsize=64)
def _of_cldr(code: str) -> Locale:
    from babel.numbers import get_currency_symbol, get_territory_currencies  # noqa: PLC0415

    found, (language, _, country) = cldr_locale(code), code.partition("_")
    place, currency = str(found.get_territory_name("en")), next(iter(get_territory_currencies(country)), "USD")
    name = str(type(found)(found.language, script=found.script).get_display_name("en"))
    unspaced = is_unspaced(str(found.get_territory_name())[:1])
    letters = LETTERS_A_WORD[re.match(f"[{EAST}]", str(found.get_territory_name())) is not None]
    counted = f" ({letters} characters count as a word)" if unspaced else ""
    return Locale(
        code=code,
        listed=False,
        language=language,
        language_name=f"{name} as written in {place}{counted}",
        country=place,
        currency=currency,
        currency_symbol=get_currency_symbol(currency, found),
        measures="imperial" if country in {"US", "LR"} else "metric",
        date_order=_ORDERS[re.sub("[^dMy]", "", found.date_formats["short"].pattern)[:1]],
        faker=code,
        phone_region=country,
        composer=False,
        unspaced=unspaced,
    )


class _Language(FileModel):
    name: str
    countries: list[str]


class _CodesFile(FileModel):
    languages: dict[str, _Language]
    countries: dict[str, str]


_SPELLING: Final = re.compile(r"([A-Za-z]{2,3})(?:_[A-Za-z]{4})?(?:_([A-Za-z]{2}))?(?:[.@].*)?")
_DEFAULTS: Final = MappingProxyType({"en": "en_US"})
_COUNTRIES: Final = MappingProxyType({"UK": "GB"})  # what people write for a code
_LANGUAGES: Final = MappingProxyType({"nb": "no"})  # Bokmål: the code of most tools for our Norwegian
_MOST_NAMED: Final = 4
_ENDINGS: Final = (
    'in brackets a value takes the ending that grammar asks for, "Deutschen Bahn" for "Deutsche Bahn"; nothing else of it changes'
)
_ORDERS: Final[Mapping[str, DateOrder]] = MappingProxyType({"M": "mdy", "d": "dmy", "y": "ymd"})


@lru_cache(maxsize=1)
def locale_codes() -> _CodesFile:
    """Return the languages of ISO 639 that Unicode CLDR names, and the countries of ISO 3166-1."""
    return load_yaml(data_folder("taxonomy") / "locale_codes.yaml", _CodesFile)


@lru_cache(maxsize=1)
def shipped_locales() -> tuple[str, ...]:
    """Return the locales for which piiloom has data: those of ``generate`` and those of the entity catalogue."""
    names = (file.name.removesuffix(".yaml") for file in (data_folder("taxonomy") / "entities").iterdir())
    return tuple(dict.fromkeys((*load_locales(), *sorted(name for name in names if re.fullmatch("[a-z]{2}_[A-Z]{2}", name)))))


def resolve_locale(name: str, known: Collection[str] | None = None) -> str:
    """Return the locale that *name* means, written as in ``pt_BR``.

    Case, hyphens, a script (``zh-Hans-CN``) and an encoding (``pt_BR.UTF-8``) do not matter; UK is GB, and nb is no. A language alone
    means its only locale, or its usual one: ``en`` is ``en_US``.

    Args:
        name: The locale as a user writes it.
        known: The locales to choose from; None means any language with any country.

    Raises:
        UsageError: *name* is none of these, or a language that has several. The remedy names the nearest ones.
    """
    spelling = _SPELLING.fullmatch(name.strip().replace("-", "_"))
    if spelling is not None:
        language, written = spelling[1].lower(), (spelling[2] or "").upper()
        language = _LANGUAGES.get(language, language)
        country = _COUNTRIES.get(written, written)
        code = f"{language}_{country}"
        if country and (code in known if known is not None else _is_valid(language, country)):
            return code
        if not country and (found := _of_language(language, known)):
            if len(found) == 1:
                return found[0]
            raise UsageError(f"{name!r} is the language of several locales", remedy=f"Choose one: {_listed(found)}.")
    raise UsageError(f"unknown locale {name!r}", remedy=" ".join(filter(None, (_hint(name, known), _choice(known)))))


def _is_valid(language: str, country: str) -> bool:
    if f"{language}_{country}" in load_locales():
        return True  # without reading the codes of all languages and countries, which takes 20 ms
    return language in locale_codes().languages and country in locale_codes().countries


def _of_language(language: str, known: Collection[str] | None) -> list[str]:
    """Return the locales that *language* alone may mean; the usual one only, if there is one."""
    if known is None:
        entry = locale_codes().languages.get(language)
        found = [f"{language}_{country}" for country in entry.countries] if entry is not None else []
        own = [code for code in found if code in shipped_locales()]
        usual = own[:1] if len(own) == 1 and own == found[:1] else []
        found = list(dict.fromkeys((*own, *found)))
    else:
        found, usual = [code for code in known if code.startswith(f"{language}_")], []
    default = _DEFAULTS.get(language)
    return [default] if default is not None and default in found else usual or found


def _hint(name: str, known: Collection[str] | None) -> str:
    """Return a question that names the locales nearest to *name*, by language, country or spelling; empty if none is near."""
    codes = locale_codes()
    whole, parts = name.strip().casefold(), re.split("[-_. ]", name.strip().casefold())
    official = (f"{language}_{country}" for language, one in codes.languages.items() for country in one.countries)
    pool = list(dict.fromkeys(known if known is not None else (*shipped_locales(), *official)))
    languages = {code for code, one in codes.languages.items() if {whole, parts[0]} & {code, one.name.casefold()}}
    countries = {code for code, country in codes.countries.items() if {whole, parts[-1]} & {code.casefold(), country.casefold()}}
    near = get_close_matches(re.sub("[-_ ]", "", name.casefold()), spelled := {c.replace("_", "").casefold(): c for c in pool}, 1, 0.9)
    near = [spelled[one] for one in near] or [code for code in pool if code.partition("_")[0] in languages]
    near = near or [code for code in pool if code.partition("_")[2] in countries]
    near = near or get_close_matches(name, pool, 1, 0.7)
    return f"Did you mean {_listed([repr(code) for code in near], ' or ')}?" if near else ""


def _choice(known: Collection[str] | None) -> str:
    if known is None:
        return "Write a language and a country (ISO 639 and 3166-1), as in es_ES or nl_NL."
    return f"Known: {', '.join(known)}. piiloom locales list shows which command takes which."


def _listed(names: list[str], between: str = ", ") -> str:
    return between.join(names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
