"""Detectors that are services on the network: texts are sent to them. Their keys come from the environment."""
