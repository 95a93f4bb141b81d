"""The embedded provider: composes replies from the scenario bank, with no key, network or model. Template-based."""
