"""The plan of a run: for each record its pair, topic, values, lengths and voice."""
