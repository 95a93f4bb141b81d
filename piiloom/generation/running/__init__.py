"""One run in one process: it drives items through the stages, keeps what is done, and takes up what was left."""
