"""What of the originals may have stayed behind, and how well somebody could tell it from the surrogates."""
