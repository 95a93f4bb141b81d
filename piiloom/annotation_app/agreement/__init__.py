"""Inter-annotator agreement, measured separately for span boundaries, types and relevance."""
