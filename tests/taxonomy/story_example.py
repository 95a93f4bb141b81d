"""A story that has no finding, and ways to read it and its like."""

from __future__ import annotations

from pathlib import Path

from piiloom.foundation.yaml_files import read_document, validate_document
from piiloom.taxonomy.bank_checks import BankFile
from piiloom.taxonomy.stories import Story
from piiloom.taxonomy.story_reading import read_story

STORY = """\
stories:
  - id: finance-location.choir-rent
    pair: [location, finance]
    topic: choir rent
    subtopics: [hall rent, moving out]
    voice: forum
    cast: {writer: {age: [24, 49]}, friend: {gender: female}}
    facts:
      home: {type: location.city_region, any: ["Portland, Oregon", "Oakland, California", "Tucson, Arizona", "Dayton, Ohio", "Boise, Idaho"]}
      old: {type: finance.payment, number: [1150, 1900, 25], as: ["${n:,}", "${n:,} a month"]}
      new: {type: finance.payment, number: {of: old, times: [1.1, 1.2], round: 25}, as: ["${n:,}", "${n:,} a month"]}
      start: {type: datetime.date, any: [March 1, June 1, September 1, the first of November, Oct 15]}
      mate: {type: name.first_name, of: friend}
      tie: {type: relationship.kin, any: [{t: aunt, she: she}, {t: uncle, she: he}, {t: sister, she: she}, {t: brother, she: he}, {t: cousin, she: she}]}
      duo:
        as: {job: occupation.job_title, for_: datetime.duration}
        rows:
          - [usher, <six years|eleven years>]
          - [baker, four years]
          - [optician, two years]
          - [roofer, nine years]
          - [typist, a year]
    text:
      - say:
          - "Our <letter|notice> came and I read it twice."
          - "Somebody pushed a letter under our door."
      - say:
          - "It goes from {old} to {new} on {start}, he writes."
          - "We pay {old} now and it becomes {new}, from {start} on."
      - p: 0.5
        id: place
        say:
          - "{mate} thinks {home} has a cap, and {friend.he} reads such things."
          - "Ask {mate}, who knows how it works in {home}."
      - p: 0.4
        group: people
        say:
          - "I'm {a:job} and have been for {for_}."
          - "For {for_} I have worked as {a:job}."
      - p: 0.4
        group: people
        para: true
        say:
          - "My {tie} sings here too."
          - "{^:tie} of mine or not, somebody has to carry the chairs."
      - p: 0.6
        with: [tie]
        say:
          - "Nobody knows where {tie.she} would sing then."
          - "Where would {tie.she} go?"
    questions:
      - id: legal
        ask: ["Is he even allowed to ask for that much more?", "How big a jump <do|must> we have to put up with?"]
        needs: {home: caps are set by the city, old: the cap is a share of it, new: it is what is asked for}
        moot: [job]
      - id: leave
        ask: ["When do I have to tell him at the latest?"]
        needs: {start: it is counted back from that day}
        helps: {home: the notice is set by the state}
        said: [place]
      - id: work
        ask: ["Could I earn the difference with what I do?"]
        needs: {job: the pay differs, old: it is subtracted, new: it is subtracted from}
        helps: {for_: the longer the better}
        moot: [tie]
      - id: who
        ask: ["How do I say it at home without a quarrel?"]
        needs: {tie: it decides the tone}
        moot: [job]
"""  # noqa: E501 - as people write it


def written(folder: Path, text: str = STORY, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def story_of(folder: Path, text: str = STORY) -> Story:
    """The first story of *text*, which must be without fault."""
    document = read_document(written(folder, text))
    return read_story(validate_document(document, BankFile).stories[0], document.where(("stories", 0)))


def line_of(snippet: str) -> int:
    """The line of ``STORY`` in which *snippet* begins."""
    return STORY.count("\n", 0, STORY.index(snippet)) + 1
