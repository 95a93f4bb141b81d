"""The entity catalogue: more than 300 kinds of personal information over 13 locales, with data in ``taxonomy/entities``.

``entity`` defines an entry, ``entity_catalogue`` loads and finds entries, ``catalogue_file`` reads files and patterns, and ``validators``
has the checksums that python-stdnum lacks.
"""
