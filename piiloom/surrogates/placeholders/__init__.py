"""Find the placeholders in redacted text ("[NAME]", "Dr. X", "____") and determine what each stands for.

``Survey`` counts the placeholder patterns of a corpus, ``Mapping`` holds the rules learned from them (an editable file), and
``Finder`` applies a mapping to a text.
"""

from piiloom.surrogates.placeholders.finder import Finder, Found, Unknown
from piiloom.surrogates.placeholders.mapping import Mapping, Noted, Rule, dump_mapping, load_mapping
from piiloom.surrogates.placeholders.survey import Survey, auto_mapping, survey_of

__all__ = ["Finder", "Found", "Mapping", "Noted", "Rule", "Survey", "Unknown", "auto_mapping", "dump_mapping", "load_mapping", "survey_of"]
