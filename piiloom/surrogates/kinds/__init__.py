"""Values of every kind except names: one drawing function per kind, reached through ``registry``."""
