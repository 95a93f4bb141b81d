"""Values of the type organization."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values import organisations
from piiloom.pii_values.drawers.kind import Drawer, Kind
from piiloom.pii_values.persona import Persona


def _organisation(kind: organisations.Kind) -> Drawer:
    """A company (first the employer), hospital, charity or club."""

    def draw(p: Persona, rng: random.Random, attempt: int) -> str:
        if kind == "company" and attempt == 0:
            return p.employer
        return organisations.draw_organisation(kind, p, p.place, rng)

    return draw


KINDS: Final = (
    Kind(subtype="company", share=3, draw=_organisation("company"), grown=True),
    Kind(subtype="employer", share=1, draw=lambda p, rng, _n: organisations.draw_employer(p.job.field, p.locale, rng), grown=True),
    Kind(subtype="hospital", share=1.5, draw=_organisation("hospital")),
    Kind(subtype="charity", share=1, draw=_organisation("charity")),
    Kind(subtype="club", share=1, draw=_organisation("club")),
)
