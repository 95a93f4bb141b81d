"""``python -m generation.peripheral``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import peripheral

if __name__ == "__main__":
    main(peripheral.NAME, peripheral.__doc__)
