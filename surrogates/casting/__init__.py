"""Who is behind the mentions: clusters, what the text tells of them, balanced groups, people and their names."""
