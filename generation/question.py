"""``python -m generation.question``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import question

if __name__ == "__main__":
    main(question.NAME, question.__doc__)
