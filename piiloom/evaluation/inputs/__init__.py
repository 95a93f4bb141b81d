"""Gold and predictions, read from any format into annotated documents."""
