"""Variables that every shipped template can be filled with."""

from __future__ import annotations

VALUE = {"id": "v1", "text": "asthma", "type": "health", "subtype": "condition", "subject": "sister", "relevance": "high"}
VARIABLES = {
    "types": [{"name": "health", "definition": "How one is."}, {"name": "age", "definition": "How old one is."}],
    "type": {"name": "health"},
    "subtype": {"name": "condition", "definition": "An illness.", "examples": ["asthma", "gout"]},
    "count": 7,
    "topic": "night shifts",
    "subtopic": "rest breaks",
    "country": "Canada",
    "avoid": ["gout"],
    "values": [VALUE],
    "value": VALUE,
    "words": {"min": 20, "max": 35, "target": 28},
    "sentences": ["I have [[v1|asthma]]."],
    "opening": False,
    "cue_level": "implied",
    "register": "forum post",
    "language": "English",
    "situation": "I have asthma.",
    "draft": "May someone with asthma work at night?",
    "personal": "May I work at night with it?",
    "first": {"id": "v1", "text": "asthma"},
    "lead": "high",
    "text": "I have asthma.",
    "post": "I have asthma.",
    "question": "May I work at night?",
    "facts": [{"id": "f1", "value": "asthma", "kind": "health"}],
    "before": "I work at ",
    "gap": "<COMPANY>",
    "after": ".",
    "means": "the name of a company",
    "digits": False,
    "letters": ["K", "R"],
    "fault": None,
}
