"""What each record of a run is to become: its pair, topic, values, lengths and voice."""
