"""``python -m generation.audit``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import audit

if __name__ == "__main__":
    main(audit.NAME, audit.__doc__)
