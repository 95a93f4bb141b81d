"""Server side of editing: applies the operations that browsers send, once and in order, and serves each person's documents."""
