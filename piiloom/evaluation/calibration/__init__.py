"""Whether the scores of a detector are what they say: of spans scored 0.8, four in five should be right."""
