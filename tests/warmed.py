"""Imported where processes are forked from: it reads what runs of the composer and detectors read first, else each would for a second."""

from __future__ import annotations

import random

from piiloom.pii_values.drawing import draw_value
from piiloom.pii_values.persona import draw_persona
from piiloom.screening.identifiers import find_identifiers
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.story_bank import stories_for

for _pair in shipped_taxonomy().pairs:
    stories_for(_pair)
_rng = random.Random(1)
_persona = draw_persona(_rng, "en_US")
for _kind in shipped_taxonomy().types:
    draw_value(_persona, _kind, None, _rng, shipped_taxonomy())
list(find_identifiers("ann@example.org", "US"))
