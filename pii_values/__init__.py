"""Realistic values of a type and locale, all belonging to one coherent invented person.

``persona_drawing.draw_persona`` makes the person, ``drawing.draw_values`` the values a text discloses about them.
"""

if __name__ == "pii_values":  # with a checkout on the path, a second copy of everything in here
    raise ImportError("import it as piiloom.pii_values")
