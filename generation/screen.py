"""``python -m generation.screen``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import screen

if __name__ == "__main__":
    main(screen.NAME, screen.__doc__)
