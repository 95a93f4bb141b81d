"""From what people made of a record to one result: agreed, or decided on by an adjudicator, and stored as a new revision."""
