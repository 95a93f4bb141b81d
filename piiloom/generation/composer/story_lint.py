"""The linter of stories: the checks of ``taxonomy.bank_lint``, leaks in questions, and the findings of trial texts.

Leaks are found by the rules of the gates that screen records later. A trial writes the story many times and counts which questions and
facts come up, high and low, and why tries fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path

from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.yaml_files import KeyPath, key_name, read_document, validate_document
from piiloom.generation.composer.story_writing import ToldStory, mentions
from piiloom.generation.composer.telling import StoryUntold, choose_questions, shares_word, tell, tell_once
from piiloom.screening.identifiers import find_identifiers
from piiloom.taxonomy.bank_checks import BankFile
from piiloom.taxonomy.bank_lint import Finding, lint_files
from piiloom.taxonomy.bank_loading import load_bank, user_sources
from piiloom.taxonomy.bank_style import StyleFinding
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.grammar import all_expansions
from piiloom.taxonomy.locales import Locale, load_locales
from piiloom.taxonomy.stories import Counted, Fact, Story, StoryQuestion
from piiloom.taxonomy.story_bank import load_stories
from piiloom.taxonomy.story_checks import NUMBER_SLOT, story_faults
from piiloom.taxonomy.story_reading import read_story
from piiloom.taxonomy.story_style import place_of, values_of
from piiloom.taxonomy.telling_plan import TellingPlan, plan_of

TRIALS = 200
# Rules whose findings make a bank unusable; all others concern style.
_REFUSED = frozenset({"shape", "pattern"})


def locale_of(language: str) -> Locale:
    """Return the locale in which stories of *language* are tried; raises ``UsageError`` if the composer does not write it."""
    found = {locale.language: locale for locale in reversed(list(load_locales().values())) if locale.composer}
    if language not in found:
        raise UsageError(f"the composer does not write {language!r}", where="--language", remedy=f"Known: {', '.join(sorted(found))}.")
    return found[language]


def lint_stories(sources: Iterable[Traversable | Path], taxonomy: Taxonomy, language: str = "en", *, trials: int = TRIALS) -> list[Finding]:
    """Return all findings in the bank files *sources*. Stories without faults of form are also written *trials* times."""
    locale, known = locale_of(language), list(sources)
    findings = lint_files(known, taxonomy, language)
    for source in known:
        findings.extend(_tried(source, taxonomy, locale, trials))
    places = {source.name: place for place, source in enumerate(known)}
    return sorted(findings, key=lambda finding: (places.get(finding.file, 0), finding.line or 0))


def lint_bank(path: Path, taxonomy: Taxonomy) -> tuple[list[Finding], bool]:
    """Return the findings of *path*, a bank of the user's own with types of *taxonomy*, and whether the composer can use it.

    Raises ``UsageError`` when there is no such file or folder and ``ConfigError`` when the folder has no bank file.
    """
    if not path.exists():
        raise UsageError(f"there is no {path}", where="--bank", remedy="Name a YAML file or a folder of them.")
    findings = lint_stories(user_sources(path), taxonomy)
    usable = not any(finding.rule in _REFUSED for finding in findings)
    if usable:  # ids that what ships has already are refused here
        load_bank("en", path, taxonomy)
        load_stories("en", path, taxonomy)
    return findings, usable


def _tried(source: Traversable | Path, taxonomy: Taxonomy, locale: Locale, trials: int) -> list[Finding]:
    try:
        document = read_document(source)
        parsed = validate_document(document, BankFile)
    except ConfigError:
        return []  # reported by ``lint_files``
    findings: list[Finding] = []
    for index, entry in enumerate(parsed.stories):
        path = ("stories", index)
        if any(True for _ in story_faults(path, entry, taxonomy, locale.language)):
            continue
        story = read_story(entry, document.where(path))
        for place, rule, message in leak_findings(path, story, locale.phone_region):
            findings.append(Finding(rule=rule, file=document.file, line=document.line(place), entry=key_name(place), message=message))
        for key, message in trial_findings(story, try_story(story, locale.code, taxonomy, trials)):
            line, where = document.line(_place(path, story, key)), f"{entry.id} {key}"
            findings.append(Finding(rule="trial", file=document.file, line=line, entry=where, message=message))
    return findings


def _place(path: KeyPath, story: Story, key: str) -> KeyPath:
    """Return the key path of *key*, such as "questions[2]", "facts.home" or "text"."""
    name, dot, fact = key.partition(".")
    if dot:
        return place_of(path, story, fact)
    name, bracket, number = key.partition("[")
    return (*path, name, int(number[:-1])) if bracket else (*path, name)


_LOOKED_AT = 40  # most expansions of a wording to check


def leak_findings(path: KeyPath, story: Story, region: str) -> Iterator[StyleFinding]:
    """Yield (place, rule, message) for values, or words of deciding values, in questions, and for identifiers in fixed text.

    *region*: the phone region by which phone numbers are recognized.
    """
    values = {name: _spellings(story, fact) for name, fact in story.facts.items()}
    for number, question in enumerate(story.questions):
        for place, pattern in enumerate(question.wordings):
            where = (*path, "questions", number, "ask", place)
            told = dict.fromkeys(found for text in all_expansions(pattern, _LOOKED_AT) for found in _leaks(text, question, values))
            yield from ((where, "leak", message) for message in told)
            yield from ((where, "identifier", message) for message in _identifiers(pattern, region))
    for number, step in enumerate(story.steps):
        for place, wording in enumerate(step.wordings):
            where = (*path, "text", number, "say", place)
            yield from ((where, "identifier", message) for message in _identifiers(wording.pattern, region))


def _spellings(story: Story, fact: Fact) -> tuple[str, ...]:
    """Return the values of a fact that the story lists; for a number, its spellings with 0 in place of the digits."""
    if isinstance(fact.source, Counted):
        return tuple(NUMBER_SLOT.sub("0", spelling) for spelling in fact.source.spellings)
    return tuple(dict.fromkeys(values_of(story, fact)))


def _leaks(text: str, question: StoryQuestion, values: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for name, known in values.items():
        yield from (f"holds {value!r}, a value of {name}; say it otherwise" for value in known if mentions(value, text))
        if question.decides(name):
            alike = [value for value in known if shares_word(text, value) and not mentions(value, text)]
            if alike:
                more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
                yield f"shares a word with {alike[0]!r}{more}, values of {name}, which decides it; screening refuses that"


def _identifiers(pattern: str, region: str) -> Iterator[str]:
    kinds = dict.fromkeys(kind for text in all_expansions(pattern, _LOOKED_AT) for kind, _ in find_identifiers(text, region))
    yield from (f"holds what looks like an identifier ({kind}) outside a slot" for kind in kinds)


_OFTEN_SPOILED = 0.5  # share of failed tries from which on it is reported: below it, redrawing costs next to nothing


@dataclass(slots=True)
class Trials:
    """The results of a number of tries: told stories, failures by reason, how often facts and questions came up.

    ``high`` and ``low`` hold (question id, fact) pairs.
    """

    told: list[ToldStory] = field(default_factory=list)
    spoiled: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    high: set[tuple[str, str]] = field(default_factory=set)
    low: set[tuple[str, str]] = field(default_factory=set)


def try_story(story: Story, locale: str, taxonomy: Taxonomy, number: int = TRIALS) -> Trials:
    """Try *number* times to write *story* with two questions; deterministic for a given story."""
    rng = derive_rng("trials", story.id)
    trials, plan = Trials(), plan_of(story)
    for _ in range(number):
        asked = choose_questions(plan, 2, rng)
        if asked is None:
            break
        told = tell_once(story, asked, rng, taxonomy, locale=locale)
        if isinstance(told, str):
            trials.spoiled[told] += 1
            continue
        trials.told.append(told)
        facts = {span.fact for span in told.spans}
        trials.facts.update(facts)
        for question in told.questions:
            trials.asked[question.id] += 1
            trials.high.update((question.id, fact) for fact in question.high)
            trials.low.update((question.id, fact) for fact in facts - question.high.keys())
    return trials


def trial_findings(story: Story, trials: Trials) -> Iterator[tuple[str, str]]:
    """Yield the faults that the trials show, as (key of the story, such as "questions[2]", and message)."""
    spoiled = sum(trials.spoiled.values())
    number = len(trials.told) + spoiled
    if not number:
        yield "questions", "no two questions can be asked together: what each needs is moot for the others, or they are too few"
    elif spoiled > _OFTEN_SPOILED * number:
        for reason, count in trials.spoiled.most_common(3):
            yield "text", f"{count} of {number} texts were spoiled: {reason}"
    plan = plan_of(story)
    for place, question in enumerate(story.questions):
        wrong = _unasked(plan, place, trials)
        if wrong is not None:
            yield f"questions[{place}]", f"{question.id} {wrong}"
    if trials.told:
        for name in story.facts:
            if not trials.facts[name] and any(name in wording.tells for step in story.steps for wording in step.wordings):
                yield f"facts.{name}", _untold(story, name, trials)


def _unasked(plan: TellingPlan, place: int, trials: Trials) -> str | None:
    """Return why the question at index *place* never came up, or never had a low fact; None if nothing is wrong."""
    name = plan.story.questions[place].id
    lacking = plan.demand((place,)).lacking
    if lacking is not None:
        return f"can never be asked: {lacking}; give a wording without it, or a step with p"
    if place not in plan.askable_in_twos:
        return f"can be asked with no other question: {_apart(plan, place)}"
    if not trials.asked[name]:
        return f"never came up{_why(trials)}"
    if plan.story.facts and not any(asked == name for asked, _ in trials.low):
        return "makes everything that is told with it high; let it need less, or tell more"
    return None


def _untold(story: Story, fact: str, trials: Trials) -> str:
    moot = [question.id for question in story.questions if fact in question.moot]
    if not moot:
        return f"never told in {len(trials.told)} texts{_why(trials)}"
    return f"never told: it is moot for {', '.join(moot)}, and no two other questions can be asked together; take it out of one of these"


def _apart(plan: TellingPlan, place: int) -> str:
    """Return why the question at index *place* cannot be asked with any other one, with a reason for each."""
    others = [number for number in range(len(plan.story.questions)) if number != place]
    reasons = ((plan.story.questions[n].id, plan.demand(tuple(sorted((place, n)))).lacking) for n in others)
    return "; ".join(f"with {name}, {reason}" for name, reason in reasons)


def _why(trials: Trials) -> str:
    return f" (spoiled: {trials.spoiled.most_common(1)[0][0]})" if trials.spoiled else ""


def samples(story: Story, locale: str, taxonomy: Taxonomy, *, seed: int, number: int) -> Iterator[ToldStory | StoryUntold]:
    """Yield *number* texts of *story* drawn by *seed*; an error is yielded in place of a text that cannot be made."""
    for place in range(number):
        try:
            yield tell(story, derive_rng("story", seed, story.id, place), taxonomy, locale=locale)
        except StoryUntold as error:
            yield error
