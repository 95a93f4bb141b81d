"""Ranges, banks, domains and networks that belong to nobody, as authorities keep them free or as they are not given out.

python-stdnum rightly rejects some of the ids as invalid. Countries that are not in ``IDS`` reserve no range for tests.
"""

from __future__ import annotations

from typing import Final

# By country: the range that its national ids are drawn from, and who says that it is free.
IDS: Final = {
    "US": ("987-65-4320 to 4329, and area 900-999 with group 01-49", "Social Security Administration: never assigned (RM 10201.035)"),
    "CA": ("social insurance numbers that begin with 0", "Service Canada: not assigned to people"),
    "GB": (
        "NHS 999 000 0000 to 999 999 9999; NI prefixes BG, GB, KN, NK, NT, TN, ZZ and QQ",
        "NHS Digital test range; HMRC manual NIM39110",
    ),
    "SE": ("birth numbers 980 to 999", "Skatteverket: personal numbers for tests"),
    "FI": ("individual numbers 900 to 999", "Digital and Population Data Services Agency: temporary and test numbers"),
    "NO": ("birth date with 80 added to the month", "Skatteetaten: synthetic people (Tenor)"),
    "SG": ("last letters K to X behind S and T", "the series of F and G has them; no S or T card does"),
}
# Bank codes of four letters that are not in the SWIFT directory, for account numbers that begin with a bank code.
BANKS: Final = ("HRTW", "LMBK", "QVST", "RDGE", "WLKN", "ZPHR", "KLDR", "BRXT", "FNWK", "TRVX")
DOMAINS: Final = ("example.com", "example.org", "example.net")  # RFC 2606
# Endings of host names under which nobody can register a name: RFC 2606, and ICANN's board resolution 2018.02.04.12 (never delegated).
ENDINGS: Final = ("example", "example", "mail", "mail", "home", "test")
# Before a domain; names of made-up sites.
HOSTS: Final = (*("",) * 4, *"mail. post. inbox. home. webmail. my. mx. box. office. net. team. email.".split())
SITE_NAMES: Final = (
    "amber arrow aspen birch bluebird breeze cedar clover cobalt comet copper coral crane cricket dahlia daisy delta dune "
    "ember falcon fern finch flint fox gale garnet ginger glacier harbor hazel heron indigo ivy jade jasper juniper kestrel "
    "lark laurel lemon lily linden lotus lynx maple marble meadow mint moss nectar nova oak olive onyx opal orchid otter "
    "pearl pebble pepper pine plum poppy quartz quill raven reed ridge river robin rowan saffron sage sienna silver sparrow "
    "spruce stone swan teal thistle tulip violet walnut willow wren zephyr"
).split()
NETWORKS: Final = ("192.0.2", "198.51.100", "203.0.113")  # RFC 5737
NETWORK_V6: Final = "2001:db8"  # RFC 3849
