"""A small bank of one's own that has no finding."""

from __future__ import annotations

from pathlib import Path

MINE = """\
scenarios:
  - id: health-relationship.choir-bench
    pair: [relationship, health]
    uses: {health: [condition, allergy], relationship: [kin]}
    subjects: {health: "@relationship"}
    also:
      location: {uses: [city], why: "where the choir sings", tells: ["We sing in {location} every week."]}
    topic: Choir Seats
    subtopics: [bench rows, warm halls]
    rationale: {health: "who sits where", relationship: "who sits with whom"}
    tells:
      both:
        - "My {relationship} has {health} and sings in <our|the> choir."
        - "Since {health} came up, my {relationship} sings from a chair."
        - "At the choir my {relationship} hides {health} from the rest."
      health:
        - "The bench is hard on somebody with {health}."
        - "Nobody there has heard of {health}."
      relationship:
        - "I sit beside my {relationship} whenever we sing."
        - "Without my {relationship} I would never have joined."
    stakes:
      - "The <bench|row> by the door is the only one with a cushion on it."
      - "I asked the conductor and he only pointed at the plan on the wall."
      - "Moving one person would move the whole row, or so they told me."
      - "We have a concert soon and I want this settled before it."
      - "I offered to bring a chair, but the hall forbids loose furniture."
    questions:
      neutral: ["<Where|When> can <I|we> sit down?", "<Who|What> decides <this|that> in the end?", "<Can|May> we <ask|beg> for another <row|place> now?"]
      implied: ["<Can|May> a singer <rest|lean> in the <row|hall>?", "<Who|What> helps those who <ache|tire> in a <row|hall>?", "<Is|Was> a cushion <fine|allowed> for <her|him>?"]
      personal: ["<Where|When> can <my own|our own> <person|people> sit?", "<Could|May> I <sit|stay> with <mine|them> there?"]
frames:
  - "These days I <live|stay> in {location.city}."
  - {text: "My {relationship.kin} is {a:occupation.job_title} <now|again>.", subjects: {occupation: "@relationship"}}
talk:
  chatter: ["I have been sanding a table on the balcony."]
  openers: {any: ["Hello there."]}
"""


def written(tmp_path: Path, text: str = MINE) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path
