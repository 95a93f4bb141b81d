"""``python -m generation.values``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import values

if __name__ == "__main__":
    main(values.NAME, values.__doc__)
