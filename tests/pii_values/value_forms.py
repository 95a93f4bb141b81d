"""How a value of each subtype must look, as far as a pattern can tell; English, the six locales together."""

from __future__ import annotations

import re

MONEY = (
    r"(?:(?:S|A|C)?[$£₹€]|Rs\.? |[A-Z]{3} )?\d[\d,.]*(?:[kK]| lakhs?)?"
    r"(?: (?:dollars|pounds|quid|rupees|euros|[A-Z]{3}))?"
)
COUNT = r"(?:\d+(?:\.5)?|[a-z]+(?:-[a-z]+)?)(?: and a half)?"
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
PERIOD = (
    r"(?: (?:a|an|per|every|each) [a-z ]+|/(?:yr|year|mo|month|wk|week|hr|hour)"
    r"| (?:annually|yearly|monthly|weekly|hourly|biweekly|pa))"
)
CLOCK = r"\d{1,2}(?:[:.]\d\d)? ?(?:[ap]m|[AP]M)?(?: [A-Z]{2,4})?"
BLOOD = r"(?:AB|A|B|O)"
NAMED_TIME = r"\d{4} hours|\d+ o'clock|[a-z]+ in the [a-z]+|(?:half|quarter) (?:past|to|after) [a-z]+"
UNIT = r"(?:min(?:ute)?s?|hours?|hrs|days|weeks|wks|months|mos|years|yrs)"

FORMS = {
    ("age", "years"): r"\d{1,3}",
    ("age", "years_old"): r"(?:\d{1,3}|[a-z]+(?:-[a-z]+)?) ?(?:years old|yrs old|year old|yr old|y/o|yo)",
    ("age", "year_old"): r"(?:\d{1,3}|[a-z]+(?:-[a-z]+)?)[ -]?(?:years?[ -]old|yr[ -]old|y/o|yo)",
    ("age", "age_group"): r"(?:(?:very )?(?:early|late) |mid[- ]|middle )?(?:[a-z]+(?:ties|teens)|teens|twenties|hundreds|\d0s)",
    ("age", "age_gender"): r"(?:\d{1,3} ?/?(?:[FMfmX]|NB|nb))|(?:(?:[FMfm]|NB)/?\d{1,3})",
    ("appearance", "height"): r"\d+ ?cm|\d\.\d\d ?m|\d+ centimet(?:er|re)s|\d\.\d\d met(?:er|re)s|(?:\d|[a-z]+)[ -]?(?:'|’|ft|foot|feet).*",
    ("appearance", "weight"): r"\d+ ?(?:lbs?|pounds|kgs?|kilos)|\d+ ?(?:st|stone)(?: \d+(?:lb)?)?",
    ("appearance", "hair"): r".+ (?:hair|curls|braids|dreadlocks|ringlets|pigtails|bangs|waves|locks|cornrows|twists)",
    ("appearance", "eyes"): r".+ eyes",
    ("appearance", "build"): r".+ (?:build|frame|figure|physique)",
    ("appearance", "blood_type"): (
        rf"{BLOOD}(?:[+−-]| Rh[+-]|[ -](?:pos|neg|positive|negative)| Rh (?:positive|negative))|Rh-[a-z]+ {BLOOD}"
    ),
    ("relationship", "named_kin"): r"[a-zé].*[a-z.é],? [A-ZÅÄÖÁÉÍÓÚ].*",
    ("code", "email"): (
        r"[A-Za-z0-9._+-]*[_-][A-Za-z0-9._+-]*@gmail\.com|"
        r"(?:[A-Za-z0-9._+-]*[a-z0-9]|[A-Z0-9._+-]*[A-Z0-9])@(?:[a-z0-9-]+\.){0,3}"
        r"(?:example\.(?:com|net|org|edu)|(?<=\.)(?:example|test|mail|home|corp|internal|xz|zz|qz))"
    ),
    ("datetime", "date"): rf"\d[\d/.-]+\d|(?:{MONTH} )?\d{{1,2}}(?:st|nd|rd|th)?(?:(?: of)? {MONTH})?(?:,? \d{{4}})?",
    ("datetime", "month_year"): rf"(?:early |late |mid-)?{MONTH}(?: of)? (?:\d{{4}}|'\d\d)|\d\d/\d{{4}}",
    ("datetime", "year"): r"(?:19|20)\d\d",
    ("datetime", "time"): rf"{CLOCK}|{NAMED_TIME}",
    ("datetime", "duration"): rf"\d+[dhwm](?: \d+[hm])?|\d+ h \d+ min|{COUNT}(?: [a-z]+)? {UNIT}\b.*",
    ("demographic", "heritage"): r".*[a-z] (?:descent|roots|ancestry|heritage|background|origins|blood|lineage|forebears)",
    ("finance", "income"): rf"{MONEY}(?: (?:before tax|net))?{PERIOD}|₹?[\d.]+ LPA",
    ("finance", "salary"): rf"{MONEY} [a-z -]+",
    ("finance", "debt"): rf"(?:about |over |nearly )?{MONEY} (?:in|of|worth of) [\w ,-]+",
    ("finance", "savings"): rf"(?:about |almost )?{MONEY} [\w -]+",
    ("finance", "amount"): MONEY,
    ("finance", "payment"): rf"(?:about |over )?{MONEY}{PERIOD}",
    ("finance", "credit_score"): r"\d{1,4}",
    ("health", "diagnosis"): r".+ diagnosis",
    ("location", "city_region"): r"[^,]+, [^,]+",
    ("location", "address"): r"(?:(?:Flat|Unit) \d+, |House No\. |Blk |Block )?\d*.+",
    ("name", "full_name"): r"\S+(?: \S+)+",
    ("name", "username"): r"[A-Za-z0-9._-]{4,24}",
    ("occupation", "activity"): r"[a-z-]+ing\b.*|.*\b[a-z]+ing\b.*",
}
PATTERNS = {key: re.compile(pattern) for key, pattern in FORMS.items()}

MOST_WORDS_OF_AN_ADDRESS = 14  # street, flat, city, region
ARTICLE = re.compile(r"(?i)(a|an|the|my|his|her|their|our) ")


def misfit(entity_type: str, subtype: str, form: str, text: str) -> str | None:
    """What is wrong with a value, or None."""
    pattern = PATTERNS.get((entity_type, subtype))
    articles = subtype == "blood_type" or entity_type == "code"  # "A positive", "AN 47 HE"
    faults = {
        "blanks": text != " ".join(text.split()),
        "signs": bool(set("[]{}<>|\n") & set(text)),
        "length": not 1 <= len(text.split()) <= (MOST_WORDS_OF_AN_ADDRESS if subtype == "address" else 8),
        "article": not articles and ARTICLE.match(text) is not None,
        "stop at the end": text.endswith((".", ",", ";")),
        "form of the subtype": pattern is not None and not pattern.fullmatch(text),
        "capital": form == "proper" and not any(c.isupper() or c.isdigit() for c in text[:5]),  # "easyJet"
        "digits": form == "number" and not text.isdigit(),
    }
    return next((name for name, wrong in faults.items() if wrong), None)
