"""Chinese has no blanks: numbers adjoin words and Chinese commas, colons and stops, which are no parts of them."""

from piiloom.patterns.engine import PatternEngine
from piiloom.taxonomy.entities.catalogue_file import EntityPattern
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue
from tests.longer import case_by_case
from tests.patterns.test_engine import entity

PATTERNS = (
    EntityPattern(pattern=r"1[3-9]\d{9}", score=0.6),
    EntityPattern(pattern=r"[a-z]{6,20}", score=0.6, preceded_by=("微信", "微信号是")),
)
CATALOGUE = LocaleCatalogue(
    locale="zh_CN",
    region="CN",
    entities={f"e{number}": entity(number, pattern) for number, pattern in enumerate(PATTERNS)},
    against=(),
    notes=None,
    digest="",
)


@case_by_case("backend", ["hyperscan", "re2", "regex"])
@case_by_case(
    ("text", "found"),
    [
        ("手机13812345678。2023年入职", ["13812345678"]),
        ("手机：13812345678，30岁", ["13812345678"]),
        ("联系电话2：13812345678；3：13987654321", ["13812345678", "13987654321"]),
        ("手机１３８１２３４５６７８在用", ["１３８１２３４５６７８"]),
        ("单价13812345678.50元", []),
        ("编号3:13812345678", []),
        ("微信：wanglaoshi，周一", ["wanglaoshi"]),
        ("微信号是 wanglaoshi。", ["wanglaoshi"]),
        ("微信里的wanglaoshi", []),
        ("my微信：wanglaoshi", ["wanglaoshi"]),
    ],
)
def test_numbers_between_chinese_words_and_signs(backend: str, text: str, found: list[str]) -> None:
    engine = PatternEngine(CATALOGUE, backend=backend)  # type: ignore[arg-type]
    assert [text[one.start : one.end] for one in engine.find(text)] == found
