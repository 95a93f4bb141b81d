"""What touches a mention and what does not."""

from piiloom.corpus.mention_search import stands_alone
from tests.longer import case_by_case


@case_by_case(
    ("text", "value"),
    [
        ("Ann's car", "Ann"),
        ("Ann’s car", "Ann"),
        ("Ann'll go", "Ann"),
        ("'Ann' said", "Ann"),
        ("the Smiths' house", "Smiths"),
        ("a 34-year-old", "34"),
        ("I am 34.", "34"),
        ("in 2012, 34 people", "34"),
        ("I make $52,400.", "$52,400"),
        ("I'm 5'7\" tall", "5'7\""),
        ("I write C++.", "C++"),
        ("(asthma)", "asthma"),
        ("asthma\u200b and", "asthma"),
        ("asthma\u200d", "asthma"),
        ("👩 and", "👩"),
        ("❤️asthma", "asthma"),
        ("asthma…", "asthma"),
        ("«asthma»", "asthma"),
        ("אסתמה asthma אסתמה", "asthma"),
        ("我今年47岁了", "47岁"),
        ("我今年47岁了", "47"),
        ("公司是IBM的", "IBM"),
        ("他说‘张伟’来了", "张伟"),
        ("佐々木さん", "佐々木"),
        ("ฉันอยู่ที่เชียงใหม่มาก่อน", "เชียงใหม่"),
        ("서울에서 일해요", "서울"),
    ],
)
def test_stands_alone(text, value):
    at = text.index(value)
    assert stands_alone(text, at, at + len(value))


@case_by_case(
    ("text", "value"),
    [
        ("Annual", "Ann"),
        ("JoAnn", "Ann"),
        ("Ann\u200bual", "Ann"),
        ("Ann_x", "Ann"),
        ("O'Brien", "Brien"),
        ("Don't worry", "Don"),
        ("Don’t worry", "Don"),
        ("5'7\"", "7"),
        ("5'7\"", "5"),
        ("34.5", "34"),
        ("$52,400", "400"),
        ("7:45 pm", "45"),
        ("US$52", "$52"),
        ("C++20", "C++"),
        ("cafe\u0301", "cafe"),
        ("cafe\u0301Ann", "Ann"),
        ("👩\u200d👧", "👩"),
        ("👩\u200d👧", "👧"),
        ("👍🏽", "👍"),
        ("🇲🇦🇫🇷", "🇦🇫"),
        ("❤\ufe0f", "❤"),
        ("été", "t"),
        ("북서울", "서울"),
    ],
)
def test_is_touched(text, value):
    at = text.index(value)
    assert not stands_alone(text, at, at + len(value))
