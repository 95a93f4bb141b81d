"""The placeholder compiler: what stands where a text was redacted, what it means, and how a corpus writes it.

``Survey`` learns a corpus's own tags, ``Mapping`` is what was learnt (an editable file), ``Finder`` finds them in a text.
"""

from piiloom.surrogates.placeholders.finder import Finder, Found, Unknown
from piiloom.surrogates.placeholders.mapping import Mapping, Noted, Rule
from piiloom.surrogates.placeholders.mapping_file import dump_mapping, load_mapping
from piiloom.surrogates.placeholders.survey import Survey, auto_mapping

__all__ = ["Finder", "Found", "Mapping", "Noted", "Rule", "Survey", "Unknown", "auto_mapping", "dump_mapping", "load_mapping"]
