"""``python -m generation.post``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import post

if __name__ == "__main__":
    main(post.NAME, post.__doc__)
