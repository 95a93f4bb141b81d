"""Values of the type occupation."""

from __future__ import annotations

import random
from typing import Final

from piiloom.pii_values.drawers.kind import Kind
from piiloom.pii_values.lexicons import has_topic, phrase
from piiloom.pii_values.occupations import jobs_for, told_title
from piiloom.pii_values.persona import Persona

_FIELD_FREE: Final = frozenset({"minor", "retired", "jobless", "home"})  # activities of these do not depend on a job's field


def _job_title(p: Persona, rng: random.Random, attempt: int) -> str:
    """The persona's job, then another one open to them."""
    return p.occupation if attempt == 0 else told_title(jobs_for(p.locale, p.education.level, p.age).draw(rng), p, rng)


def _activity(p: Persona, rng: random.Random, attempt: int) -> str:
    """Draw what the persona does for a living; from attempt 3 on, what people in other jobs open to them do."""
    if p.work in _FIELD_FREE:
        return phrase("activities", p.work, p, rng)
    field = p.job.field if attempt < 3 else jobs_for(p.locale, p.education.level, p.age).draw(rng).field
    topic = f"{field}_{'skilled' if p.job.education > 2 else 'basic'}"
    return phrase("activities", topic if has_topic("activities", topic, p) else field, p, rng)


KINDS: Final = (
    Kind(subtype="job_title", share=6, draw=_job_title, grown=True),
    Kind(subtype="activity", share=2, draw=_activity, grown=True),
    Kind(subtype="status", share=0.7, draw=lambda p, rng, _n: phrase("work_status", p.work, p, rng), grown=True),
)
