"""Find the placeholders in redacted text ("[NAME]", "Dr. X", "____") and determine what each stands for.

``Survey`` counts the placeholder patterns of a corpus, ``Mapping`` holds the rules learned from them (an editable file), and
``Finder`` applies a mapping to a text.
"""

from piiloom.surrogates.placeholders.finder import Finder, FoundTags, Unknown
from piiloom.surrogates.placeholders.mapping import Mapping, Noted, TagRule, dump_mapping, load_mapping
from piiloom.surrogates.placeholders.survey import Survey, auto_mapping, survey_of

__all__ = [
    "Finder",
    "FoundTags",
    "Mapping",
    "Noted",
    "Survey",
    "TagRule",
    "Unknown",
    "auto_mapping",
    "dump_mapping",
    "load_mapping",
    "survey_of",
]
