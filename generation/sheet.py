"""``python -m generation.sheet``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import sheet

if __name__ == "__main__":
    main(sheet.NAME, sheet.__doc__)
