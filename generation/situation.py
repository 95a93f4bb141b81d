"""``python -m generation.situation``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import situation

if __name__ == "__main__":
    main(situation.NAME, situation.__doc__)
