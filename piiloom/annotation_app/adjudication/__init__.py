"""Turn people's versions of a record into one result, by agreement or by an adjudicator's decision, stored as a new revision."""
