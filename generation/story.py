"""``python -m generation.story``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import story

if __name__ == "__main__":
    main(story.NAME, story.__doc__)
