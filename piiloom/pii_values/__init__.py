"""Draw realistic PII values for a type and locale that all belong to one coherent invented person.

``persona_drawing.draw_persona`` creates the person, ``drawing.draw_values`` the values that a text discloses about them.
"""
