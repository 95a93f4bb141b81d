"""``python -m generation.paraphrase``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import paraphrase

if __name__ == "__main__":
    main(paraphrase.NAME, paraphrase.__doc__)
