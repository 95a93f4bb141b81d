"""Write another value in the layout of a given one: numbers, dates, codes and names, and the form of any value."""
