"""``python -m generation.verdict``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import verdict

if __name__ == "__main__":
    main(verdict.NAME, verdict.__doc__)
