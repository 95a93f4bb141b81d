"""What a run will cost, by a stand-in for the model that sees every prompt."""
