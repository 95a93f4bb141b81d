"""What can be disclosed: PII types and their subtypes, locales, and the bank of scenarios; YAML data and frozen models.

- ``entity_types``: the types, their spellings in other data sets, and the pairs a record can be planned for
- ``locales``: languages, currencies and measures
- ``grammar``: ``<a|b>`` alternatives and ``{slot}``s, the notation of all bank texts
- ``scenarios``: the bank itself; ``bank_lint`` checks it
"""

if __name__ == "taxonomy":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.taxonomy")
