"""What ``surrogate_readings.py`` shows to whoever reads surrogates: the corpora, and passages before and after."""
