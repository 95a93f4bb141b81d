"""The entity catalogue: more than 300 kinds of personal information over 13 locales; data in ``taxonomy/entities``.

``entity`` says what an entry is, ``entity_catalogue`` loads and looks up, ``catalogue_file`` reads files and patterns, and
``validators`` has the checksums that python-stdnum has not.
"""
