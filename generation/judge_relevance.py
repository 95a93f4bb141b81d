"""``python -m generation.judge_relevance``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import judge_relevance

if __name__ == "__main__":
    main(judge_relevance.NAME, judge_relevance.__doc__)
