"""``python -m generation.topics``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import topics

if __name__ == "__main__":
    main(topics.NAME, topics.__doc__)
