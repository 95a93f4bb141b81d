"""Records: the data model, the store, import and export formats, and releases."""
