"""``python -m generation.ledger``: the stage from the shell."""

from piiloom.generation.stage_command import main
from piiloom.generation.stages import ledger

if __name__ == "__main__":
    main(ledger.NAME, ledger.__doc__)
