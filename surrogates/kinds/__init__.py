"""Values of every kind but names: one drawing function a kind, all behind ``registry``."""
