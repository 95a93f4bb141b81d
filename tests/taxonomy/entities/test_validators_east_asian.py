"""Numbers of China, Singapore and Vietnam: published examples, and the same with one sign changed."""

import pytest

from piiloom.taxonomy.entities.validators.registry import find_validator
from tests.longer import case_by_case

# Sources of the examples: GB 11643 (110105…), GB 11714 (D2143569-X), Immigration Department of Hong Kong (A123456(3)), Wikipedia on
# identity cards of Taiwan, on UPU S10 and on Vietnam's numbers; GovTech's form (M1234567K); NUS' student help (A0123456J); a published
# list of Singapore plates; stdnum's UEN examples; Circular 07/2016/TT-BCA as explained by hrnk.vn (087084000999).
EXAMPLES = {
    "cn_old_identity": ("110105491231002", "110105491331002"),
    "cn_resident_id": ("11010519491231002X", "110105194912310021"),
    "cn_hmt_residence_permit": ("810000199408230021", "810000199408230022"),
    "cn_disability_card": ("11010519491231002X43", "11010519491231002X83"),
    "cn_student_registration": ("G11010519491231002X", "G110105194912310020"),
    "cn_physician_qualification": ("20121111011010519491231002X", "201211110110105194912310020"),
    "cn_organization_code": ("D2143569-X", "D2143569-1"),
    "hk_identity_card": ("A123456(3)", "A123456(4)"),
    "tw_identity_card": ("A123456789", "A123456788"),
    "sg_nus_matric": ("A0123456J", "A0123456K"),
    "sg_postal_code": ("238823", "838823"),
    "sg_cpf_submission_number": ("197401143C-PTE-01", "197401143D-PTE-01"),
    "vn_cccd": ("087084000999", "088084000999"),
    "vn_social_insurance": ("7916123456", "9916123456"),
    "vn_health_insurance": ("DN4797916123456", "DN6797916123456"),
    "vn_driving_licence": ("790154001234", "790454001234"),
    "vn_vehicle_plate": ("51F-123.45", "10F-123.45"),
    "postal_item": ("RR473124829SG", "RR473124828SG"),
}


@case_by_case("name", EXAMPLES)
def test_a_published_number_passes_and_a_spoilt_one_does_not(name: str) -> None:
    right, wrong = EXAMPLES[name]
    accepts = find_validator(f"piiloom:{name}")
    assert accepts(right)
    assert not accepts(wrong)


@case_by_case("number", ["S1234567D", "T1234567J", "F1234567N", "G1234567X", "M1234567K", "S8944027J", "G6046409Q", "s1234567d"])
def test_every_series_of_nric_and_fin_has_its_letters(number: str) -> None:
    accepts = find_validator("piiloom:sg_nric_fin")
    assert accepts(number)
    assert not accepts(number[:-1] + ("K" if number[-1] == "J" else "J"))
    assert not accepts(number[:-1])


@case_by_case("plate", "E75H EL1A E115B GY55C GY8822C PA9707R SCY79G SBS9683X SCW0241P GBA1511G SGF2306R SJK6655U XD3634X".split())
def test_plates_of_a_published_list_have_the_right_letter(plate: str) -> None:
    accepts = find_validator("piiloom:sg_vehicle_plate")
    assert accepts(plate)
    assert not accepts(plate[:-1] + ("A" if plate[-1] != "A" else "B"))


def test_the_foreigners_card_checks_place_date_and_check_character() -> None:
    accepts = find_validator("piiloom:cn_foreigner_permanent_residence")
    body = "91184019900305123"
    right = [body + sign for sign in "0123456789X" if accepts(body + sign)]
    assert len(right) == 1
    assert not accepts("8" + right[0][1:])
    assert not accepts(right[0][:10] + "13" + right[0][12:])


def test_no_text_is_too_odd() -> None:
    for name in (*EXAMPLES, "sg_nric_fin", "sg_vehicle_plate", "cn_foreigner_permanent_residence"):
        for text in ("", "A", "123", "甲乙丙", "()", "D214356٣X"):
            assert find_validator(f"piiloom:{name}")(text) is False, (name, text)


@pytest.mark.parametrize("begins", ["211381197911136", "110114196003124"])
def test_a_county_may_be_younger_than_who_has_its_code(begins: str) -> None:
    accepts = find_validator("piiloom:cn_resident_id")
    assert sum(accepts(f"{begins}01{sign}") for sign in "0123456789X") == 1
    assert not any(accepts(f"219999{begins[6:]}01{sign}") for sign in "0123456789X")
