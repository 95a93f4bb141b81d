"""``python -m generation.subtopics``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import subtopics

if __name__ == "__main__":
    main(subtopics.NAME, subtopics.__doc__)
