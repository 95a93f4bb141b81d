"""``python -m generation.abstraction``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import abstraction

if __name__ == "__main__":
    main(abstraction.NAME, abstraction.__doc__)
