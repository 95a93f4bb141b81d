"""``python -m generation.spans``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import spans

if __name__ == "__main__":
    main(spans.NAME, spans.__doc__)
