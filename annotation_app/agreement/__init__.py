"""How far people agree: on where spans begin and end, on their types, on their relevance, each by itself."""
