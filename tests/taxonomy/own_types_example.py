"""A types file as the tests of several rooms use it, and the sample of the guide."""

from __future__ import annotations

from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "docs" / "samples" / "own_types"
TYPES, BANK, BY_MODEL = SAMPLES / "types.yaml", SAMPLES / "bank.yaml", SAMPLES / "by_model.yaml"

MINE = """\
types:
  - name: vehicle plate
    definition: The registration of a vehicle.
    examples: [KLM-4821, RST-0094]
    aliases: [number plate]
    pairs: [job, health]
    generator: {pattern: '[A-Z]{3}-[0-9]{4}'}
  - name: pet
    definition: An animal that lives with somebody.
    pairs: all
    subtypes:
      - name: breed
        examples: [greyhound, beagle]
        form: count_noun
        generator: {lexicon: [greyhound, beagle, corn snake]}
      - name: chip
        definition: The number of the chip in its ear.
        examples: ['900108001234567', '900108007654321']
        generator: {pattern: '9[0-9]{14}', check: luhn}
  - name: hobby
    definition: What somebody does for pleasure.
    examples: [bell ringing, lock picking]
    pairs: []
    generator: model
"""


def written(folder: Path, text: str = MINE) -> Path:
    """*text* as a types file in *folder*."""
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path
