"""Ways of writing a placeholder, one by one: what is read there, and whether the form alone is enough to fill it."""

from __future__ import annotations

from typing import Final, NamedTuple

LISTED: Final = ""  # the form does not tell what stood there


class Form(NamedTuple):
    """A placeholder as it is written.

    ``kind`` is what it says ("" if nothing); ``sure``: it is filled wherever it stands, else only where the text around or other places
    of the corpus agree. ``pieces`` are what of it may be replaced, if not all.
    """

    text: str
    kind: str = LISTED
    sure: bool = True
    language: str = "en"
    pieces: tuple[str, ...] = ()


def _all(kind: str, texts: str, *, sure: bool = True, language: str = "en") -> list[Form]:
    return [Form(text, kind, sure, language) for text in texts.split("\n") if text]


_NAMES: Final = r"""
[NAME]
[Name]
[PER]
[NAME-1]
[PERSON:1]
[REDACTED: name]
[[NAME]]
[ NAME ]
[%NAME%]
<name>
<NAME>
<<NAME>>
< NAME >
<--NAME-->
<PERSON_1>
<PII>NAME</PII>
<PRESIDIO_ANONYMIZED_PERSON>
&lt;NAME&gt;
{{name}}
{{PERSON}}
{NAME}
{ NAME }
__NAME__
%NAME%
#NAME#
###NAME###
~NAME~
§NAME§
+NAME+
=NAME=
\NAME\
|NAME|
«NAME»
‹NAME›
⟦NAME⟧
〈NAME〉
《NAME》
「NAME」
NAME_1
PERSON1
Person_1
Name_A
PERSON_B
J*** D**
[[[NAME]]]
(((NAME)))
[*NAME*]
[|NAME|]
<|NAME|>
⟪NAME⟫
〖NAME〗
『NAME』
❮NAME❯
›NAME‹
»NAME«
^^NAME^^
::NAME::
''NAME''
&NAME&
#PERSON_1
@Person1
[Mr. X]
[my sister]
[my wife's boss]
"""
_NAMES_UNSURE: Final = r"""
'NAME'
"NAME"
“NAME”
„NAME“
/NAME/
:NAME:
-NAME-
(NAME)
{name}
${NAME}
${name}
${{name}}
$NAME
!NAME!
FIRST_NAME
$name
%name%
#{name}
{$name}
<%= name %>
<!--NAME-->
person_1
N.N.
N. N.
[X]
[X...]
B____
(name redacted)
(nom anonymisé)
"""
_SAY_NOTHING: Final = """
?????
........
[redacted]
[REDACTED]
[ANONYMIZED]
[removed]
[deleted]
[MASK]
[■■■■]
[●]
[•]
[*****]
(redacted)
(anonymisé)
(geanonimiseerd)
(anonymisiert)
(anonimizado)
(omissis)
[geschwärzt]
[anonymisé]
[weggelakt]
[tachado]
[omissis]
[bortredigerad]
█████
▇▇▇
⬛⬛⬛
______
____________
••••
×××
XXXX
xxxx
Xxxxx
<???>
<...>
<MASKED>
A****
**** 1234
XXXX1234
***5678
1234****
XXXX-123456
4111XXXX
*redacted*
--redacted--
OMISSIS
[name has been redacted]
[hidden by mod]
<#C024BE7LR|general>
[my insurance]
[FLURB]
"""
FORMS: Final = [
    *_all("person", _NAMES),
    *_all("person", _NAMES_UNSURE, sure=False),
    *_all(LISTED, _SAY_NOTHING),
    *_all("national_id", "XXX-XX-XXXX\n***-**-1234\nxxx-xx-1234\n***.***.***-12"),
    *_all("phone", "555-XXX-XXXX\n(555) XXX-XXXX\n555-***-****\n+49 *** ****12\n(xxx) xxx-xxxx\nXXX-XXX-XXXX"),
    *_all("payment_card", "XXXX-XXXX-XXXX-1234\n****-****-****-1234\n**** **** **** 1234\n4111********1111"),
    *_all("date", "XX/XX/XXXX\nxx/xx/xxxx\n**/**/****\nXX.XX.XXXX\n12/XX/2019\nXX/XX/2019"),
    *_all("date", "__/__/____\n??/??/????\n##/##/####", sure=False),
    *_all("email", "j***@example.com\nj****@e******.com\n***@***.com\nxxx@xxx.com\n[EMAIL_ADDRESS_1]\n[email protected]\n[CONTACT]"),
    *_all("username", "<@U123>\n<@U024BE7LH>\n<@U123|name>\n<@!80351110224678912>\n@USER"),
    *_all("username", "@user", sure=False),
    *_all("url", "[URL]\n<URL>"),
    *_all("url", "http…\nhttps://t.co/…\nhttp...", sure=False),
    *_all("person", "**NAME[AAA, BBB]\n**NAME[AAA]\n**NAME\n**INITIALS"),
    Form("**DATE[Jan 05 2008]", "date"),
    Form("**AGE[in 60s]", "age"),
    Form("**STREET-ADDRESS", "address"),
    Form("**ID-NUM", "id_number"),
    Form("**WEB-LOC", "url"),
    Form("XX-year-old", "age", pieces=("XX",)),
    Form("X years old", "age", pieces=("X",)),
    Form("$X,XXX", "money", pieces=("X,XXX",)),
    Form("$XX.XX", "money", pieces=("XX.XX",)),
    Form("XX:XX", "time"),
    Form("in 19XX", "year", sure=False, pieces=("19XX",)),
    Form("Ort_3", "city", language="de"),
    Form("Patient A", "person", sure=False, pieces=("A",)),
    Form("Zeuge B.", "person", language="de", pieces=("B",)),
    Form("Jean X...", "person", sure=False, pieces=("X...",)),
    Form("J. X", "person", sure=False, pieces=("X",)),
    Form("Herr A.", "person", language="de", pieces=("A", "A.")),
    Form("Frau B.", "person", language="de", pieces=("B", "B.")),
    Form("Frau B", "person", language="de", pieces=("B",)),
    Form("mevr. B.", "person", language="nl", pieces=("B", "B.")),
    Form("Mme B.", "person", language="fr", pieces=("B", "B.")),
    Form("M. X...", "person", language="fr", pieces=("X...",)),
    Form("Ms A", "person", pieces=("A",)),
    Form("Familie D.", "person", language="de", pieces=("D", "D.")),
    Form("K. GmbH", "company", language="de", pieces=("K.",)),
    Form("Company A", pieces=("A",)),
    Form("Mr A.B.", "person", pieces=("A.B", "A.B.")),
    Form("Mr. A. B.", "person", pieces=("A. B", "A. B.")),
    Form("Dr. X", "person", pieces=("X",)),
    Form("L.-J. X", "person", pieces=("X",)),
    Form("A.___", "person", language="de"),
    Form("A.________", "person", language="de"),
    Form("X.________", "person", language="de"),
    Form("die B.________ AG", "company", language="de", pieces=("B.________",)),
    Form("C.________ SA", "company", language="fr", pieces=("C.________",)),
]
