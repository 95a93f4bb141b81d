"""``python -m generation.judge_leak``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import judge_leak

if __name__ == "__main__":
    main(judge_leak.NAME, judge_leak.__doc__)
