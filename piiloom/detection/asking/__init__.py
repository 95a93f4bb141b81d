"""What all detectors that ask a language model share: the settings, an open session, the detector's life, and questions asked once."""
