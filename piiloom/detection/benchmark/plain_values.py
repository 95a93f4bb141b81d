"""What stands in carrier texts beside personal information: dates, amounts, products, and numbers that look like ids and are none."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from piiloom.pii_values.dates import REFERENCE_DATE
from piiloom.pii_values.entity_values.drawers import DRAWERS
from piiloom.pii_values.entity_values.masks import fill_mask

DrawPlain = Callable[[str, random.Random], str]

_DATES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sv_SE": ("%Y-%m-%d", "%-d/%-m %Y"),
        "fi_FI": ("%-d.%-m.%Y", "%d.%m.%Y"),
        "no_NO": ("%d.%m.%Y", "%-d.%-m.%Y"),
        "nl_NL": ("%d-%m-%Y", "%-d-%-m-%Y"),
        "nl_BE": ("%d/%m/%Y", "%-d/%-m/%Y"),
        "pl_PL": ("%d.%m.%Y", "%Y-%m-%d"),
        "pt_BR": ("%d/%m/%Y",),
        "pt_PT": ("%d/%m/%Y", "%d-%m-%Y"),
        "zh_CN": ("%Y年%-m月%-d日", "%Y-%m-%d"),
        "zh_SG": ("%Y年%-m月%-d日", "%d/%m/%Y"),
        "vi_VN": ("%d/%m/%Y", "%-d/%-m/%Y"),
        "hi_IN": ("%d/%m/%Y", "%d-%m-%Y"),
        "ar_AE": ("%d/%m/%Y", "%Y/%m/%d"),
    }
)


def date_form(locale: str, rng: random.Random) -> str:
    """One of the ways of writing a day in *locale*, as a format of ``strftime``."""
    return rng.choice(_DATES[locale])


def recent_day(rng: random.Random) -> date:
    """A day from a year before the reference date to half a year after it: nobody's birthday."""
    return REFERENCE_DATE + timedelta(days=rng.randint(-365, 180))


def _of_masks(*masks: str) -> DrawPlain:
    return lambda locale, rng: fill_mask(rng.choice(masks), rng)  # noqa: ARG005


MOMENTS: Final = ("date", "time", "due_date", "due_time", "case_date")  # which follow the clock of a document
# From, to, in monthly wages: what something costs; a fee or groceries; a rent or a used car.
SUMS: Final[Mapping[str, tuple[float, float]]] = MappingProxyType(
    {"amount": (0.02, 0.6), "price": (0.001, 0.02), "large_amount": (0.15, 1.5)}
)
PLAIN: Final[Mapping[str, DrawPlain]] = MappingProxyType(
    {
        "product": DRAWERS["product"],
        "media_title": DRAWERS["media_title"],
        "department": DRAWERS["department"],
        "number": lambda locale, rng: str(rng.randint(1, 10 ** rng.randint(1, 4) - 1)),  # noqa: ARG005
        "small_number": lambda locale, rng: str(rng.randint(1, 60)),  # noqa: ARG005 - of a bed, a shelf, a row
    }
)

LOOK_ALIKES: Final[Mapping[str, DrawPlain]] = MappingProxyType(
    {
        "order_number": _of_masks("%#########", "%########", "@@-######", "{yyyy}-######", "%###-####-####"),
        "invoice_number": _of_masks(
            "F{yyyy}-####", "{yyyy}/######", "%########", "INV-########", "{yyyy}{01|02|03|04|05|06|07|08|09|10}####"
        ),
        "article_number": _of_masks("%#######", "###.###.##", "@##-####-#", "%############"),
        "tracking_like": _of_masks("%#############", "%### #### #### ####", "@@%########", "%##########"),
        "version": _of_masks("%.#.#", "%.##.###.#", "v%.#.##", "%.#.#-beta", "%.#.#-rc%"),
    }
)
