"""Ids that are not issued by a state: records, students, policies, cases, devices, and unspecified codes.

The shape of the original (digits, letters, separators) is kept. Without one, a usual shape is used, the same throughout a document.
``generic`` makes a meaningless, capitalized code name of two or more syllables, as long as the original or about seven letters.
"""

from __future__ import annotations

from typing import Final

from piiloom.surrogates.documents import below, mix, pick
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.calendars import in_words, other_word
from piiloom.surrogates.kinds.kind import Drawing, numbered_seed, salt_of, style_seed
from piiloom.surrogates.kinds.masks import fill, reshaped

_SHAPES: Final[dict[str, tuple[str, ...]]] = {
    "medical_record": (
        "#######", "########", "MRN ######", "##-##-##", "###-##-##", "@######", "MR%######", "###-###-###", "%#####", "H########",
    ),
    "student_id": (
        "S#######", "{year}####", "{year}-#####", "u%######", "%########", "A########", "STU-######", "@@######", "W0#######",
        "s%######",
    ),
    "employee_id": ("EMP-#####", "E######", "00#####", "@#####", "EID######", "###-####", "P#######", "W-######", "%#####", "KN-####"),
    "policy_number": (
        "@@@#########", "W#### ##### ##", "#########-0#", "@@@###@#####", "H########", "####-####-###", "M#########", "POL-########",
        "@#-#######",
    ),
    "case_number": (
        "{year}-CV-######", "CLM-######", "{yy}-#####", "C-{year}-#####", "{yy}/####", "CASE-#######", "####/{year}", "@@/#####/{yy}",
        "{year}/####", "@ {yy}/####",
    ),
    "id_number": (
        "%#######", "@@######", "######", "@#######", "###-###-###", "%#########", "@@-####-##", "REF-######", "ID-#####", "####-####",
        "@##-#####", "%####",
    ),
    "device_id": (
        "@@-######", "SN#########", "?????-?????-?????", "IMEI %%############%", "@#@####@##", "DEV-######", "&&&&-####", "????????????",
    ),
    "parcel": ("@ ####", "@ ###", "####", "%##/#", "@@@## @ ####", "Lot ##", "%###"),
    "password": ("&&&&&%##!", "@&&&&&##", "@&&&_####", "&&&&&&##$", "@&&#&&#!", "&&#@&&#?&", "@&&&&-@&&&&", "&&&&&&&&"),
}  # fmt: skip
_BY_FORM: Final = {"cvv": "###", "pin": "####", "otp": "######"}  # passwords that are numbers
_YEARS: Final = 9  # the year in a number is less than this many years before the anchor
_VIN: Final = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
_VIN_VALUES: Final = {c: int(v) for c, v in zip(_VIN, "123456781234579234567890123456789", strict=True)}
_SERIAL: Final = 12  # index of the first place that is always a digit
_VIN_WEIGHTS: Final = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
_HEADS: Final = (
    "bal bran cal cor dal dor el fal gar hal jas kel lor mar mel nor or pal quin ral sel tal tor ul val ver wel yar zel zor".split()
)
_MIDDLES: Final = ("a", "e", "i", "o", "an", "er", "il", "on", "ar", "en")
_TAILS: Final = "dan den dis lan len lin mar mon nar nel ren rin ris ros tan tis van vis wen x".split()
_SHORT: Final = 3


def _coded(kind: str) -> Drawing:
    salt = salt_of(kind)
    shapes = _SHAPES[kind]

    def drawn(draw: Draw) -> str:
        seed = numbered_seed(draw, salt) if kind in _OWNED else mix(draw.seed, salt)
        if any(map(str.isalnum, draw.original)):
            return reshaped(draw.original, seed)
        mask = _BY_FORM.get(draw.form) or pick(style_seed(draw, salt), shapes)
        if "{" in mask:
            year = draw.anchor.year - below(mix(seed, 1), _YEARS)
            mask = mask.replace("{year}", str(year)).replace("{yy}", f"{year % 100:02d}")
        return fill(mask, seed)

    drawn.__doc__ = f"A value of kind {kind!r}: the original's shape, or a usual one."
    return drawn


_OWNED: Final = frozenset({"medical_record", "student_id", "employee_id", "policy_number", "password"})
medical_record = _coded("medical_record")
student_id = _coded("student_id")
employee_id = _coded("employee_id")
policy_number = _coded("policy_number")
case_number = _coded("case_number")
id_number = _coded("id_number")
device_id = _coded("device_id")
parcel = _coded("parcel")
password = _coded("password")

_NUMBER: Final = salt_of("number")
_LETTER: Final = salt_of("letter")
_VEHICLE: Final = salt_of("vehicle_id")
_GENERIC: Final = salt_of("generic")


def vehicle_id(draw: Draw) -> str:
    """Draw a vehicle identification number (ISO 3779) with the check digit that North America requires (49 CFR 565).

    An original that does not have 17 characters is only reshaped.
    """
    seed = mix(draw.seed, _VEHICLE)
    if draw.original and len(draw.original.strip()) != 17:
        return reshaped(draw.original, seed)
    body = [pick(mix(seed, at), _VIN if at < _SERIAL else _VIN[-10:]) for at in range(17)]
    total = sum(weight * _VIN_VALUES[c] for weight, c in zip(_VIN_WEIGHTS, body, strict=True))
    body[8] = "X" if total % 11 == 10 else str(total % 11)
    return "".join(body)


def number(draw: Draw) -> str:
    """Draw a number with as many digits as the original, or two to four without one; words stay words, and counts are small."""
    seed = mix(draw.seed, _NUMBER)
    original = draw.original
    if any(map(str.isdigit, original)):
        return reshaped(original, seed)
    if original:
        other = other_word(original, draw.language, lambda old: old % 12 + 1 + below(seed, 5))
        if other is not None:
            return other
    if draw.form == "direction":
        return pick(seed, ("N", "NE", "E", "SE", "S", "SW", "W", "NW"))
    if draw.form == "count":
        return str(2 + below(seed, 11))
    if draw.form == "words":
        return in_words(2 + below(seed, 11), draw.language) or str(2 + below(seed, 11))
    return fill(pick(mix(seed, 1), ("%#", "%##", "%###", "%##")), seed)


def letter(draw: Draw) -> str:
    """Draw a capital letter, or a value in the shape of the original if there is one."""
    seed = mix(draw.seed, _LETTER)
    return reshaped(draw.original, seed) if any(map(str.isalnum, draw.original)) else fill("@", seed)


def generic(draw: Draw) -> str:
    """Draw a meaningless made-up name, about as long as the original, else of about seven letters."""
    seed = mix(draw.seed, _GENERIC)
    original = draw.original.strip()
    if any(map(str.isdigit, original)):
        return reshaped(original, seed)
    length = len(original) if len(original) > _SHORT else 0
    word = pick(mix(seed, 1), _HEADS)
    turn = 2
    while len(word) + _SHORT < length:
        word += pick(mix(seed, turn), _MIDDLES)
        turn += 1
    word += ("" if length or seed & 3 else pick(mix(seed, 40), _MIDDLES)) + pick(mix(seed, 41), _TAILS)
    return word.upper() if original.isupper() and len(original) > 1 else word.capitalize()
