"""Realistic values of a type and locale, all belonging to one coherent invented person.

``persona.draw_persona`` makes the person, ``drawing.draw_values`` the values a text discloses about them.
"""
