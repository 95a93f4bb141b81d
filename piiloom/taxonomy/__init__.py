"""What can be disclosed: PII types and their subtypes, locales, and the bank of scenarios; YAML data and frozen models.

- ``entity_types``: the types, their spellings in other data sets, and the pairs a record can be planned for
- ``label_maps``: what the labels of other data sets mean
- ``locales``: languages, currencies and measures
- ``grammar``: ``<a|b>`` alternatives and ``{slot}``s, the notation of all bank texts
- ``scenarios``: the bank itself; ``bank_lint`` checks it
"""
