"""Order checks of stories: a word must not agree with a fact that is untold, and wordings of a step should state the same facts."""

from __future__ import annotations

from collections.abc import Iterator

from piiloom.foundation.yaml_files import KeyPath
from piiloom.taxonomy.bank_style import StyleFinding
from piiloom.taxonomy.stories import Step, Story


def order_findings(path: KeyPath, story: Story) -> Iterator[StyleFinding]:
    """Yield words that agree with a fact that may be untold by then, and steps of which only some wordings state a needed fact.

    Also yield steps that wait for a fact (``with``) which no earlier step tells.
    """
    always: set[str] = set()  # told by now, whatever is drawn
    for number, step in enumerate(story.steps):
        where = (*path, "text", number)
        for place, wording in enumerate(step.wordings):
            for owner in dict.fromkeys(owner for owner, _ in wording.agreements if owner in story.facts):
                if owner not in always | step.after | wording.tells:
                    message = f"speaks of {owner}, which may be untold by then; add with: [{owner}] to the step"
                    yield (*where, "say", place), "order", message
        yield from (((*where, "say"), "needs", message) for message in _uneven(step, story))
        for name in step.after:
            if not any(name in w.tells for earlier in story.steps[:number] for w in earlier.wordings) and step.group is None:
                yield (*where, "with"), "order", f"no step before this one tells {name}, so it is never told"
        if step.chance >= 1 and not step.after:
            always |= frozenset.intersection(*(wording.tells for wording in step.wordings))


def _uneven(step: Step, story: Story) -> Iterator[str]:
    """Yield the facts that a question needs and only some wordings of *step* state.

    A fact that is moot for another question is allowed if the step is always told.
    """
    some = frozenset().union(*(w.tells for w in step.wordings)) - frozenset.intersection(*(w.tells for w in step.wordings))
    for fact in sorted(some):
        needed = [question.id for question in story.questions if fact in question.needs]
        moot = any(fact in question.moot for question in story.questions)
        if needed and not (moot and step.chance >= 1):
            yield f"only some of its wordings tell {fact}, which {needed[0]} needs; tell it in all, or in a step of its own with p"
