"""An author of carriers behind a loopback server: it writes Polish documents of the slots that the prompt lists."""

from __future__ import annotations

import random
import re

WORDS = (
    "zgłoszenie reklamacja przesyłka sprawa umowa termin dostawa faktura notatka odpowiedź wniosek zmiana potwierdzenie oddział biuro "
    "pracownik klient rozmowa prośba decyzja dokument wpis kontrola wizyta spotkanie usługa płatność opłata zwrot wymiana naprawa "
    "instalacja awaria serwis magazyn kurier paczka rachunek składka rata kredyt lokata karta limit przelew wypłata wpłata lista "
    "raport kopia podpis pieczęć załącznik formularz ankieta opinia wynik badanie skierowanie recepta zabieg poradnia rejestracja"
).split()
LINKS = "dotyczy oraz została przyjęta wczoraj przez nasz dział proszę o szybkie sprawdzenie ponieważ mamy mało czasu".split()


def kinds_of(user):
    """The ids of the list that a document is written for."""
    return re.findall(r"^- \{([a-z0-9_]+)\}", user[: user.index("Always allowed:")], re.MULTILINE)


def sentence(rng, count):
    """*count* words that read as Polish to a classifier of languages."""
    return " ".join(rng.choice(WORDS if number % 2 else LINKS) for number in range(count))


def written(user, salt=""):
    """A good reply to the prompt *user*; the same prompt gets the same one."""
    rng, kinds = random.Random(user + salt), kinds_of(user)
    form = re.search(r'exactly "([^"]+)"', user)[1]
    fields = "\n".join(f"{rng.choice(WORDS)}: {{{kind}}}" for kind in kinds)
    if "It is a document that grows" in user:
        count = int(re.search(r"a list of (\d+)", user)[1])
        entries = [f"{{=date}} {sentence(rng, 30)}, {{person_name}}, nr {{!order_number}}." for _ in range(count)]
        return {"form": form, "opening": f"{sentence(rng, 25)}\n{fields}", "entries": entries, "closing": sentence(rng, 8)}
    if int(re.search(r"^Length: (\d+)", user, re.MULTILINE)[1]) < 21:
        return {"form": form, "text": f"{sentence(rng, 5)}, {{{kinds[0]}}}, nr {{!order_number}}"}
    return {"form": form, "text": f"{sentence(rng, 30)}.\n{fields}\n{sentence(rng, 30)}, nr {{!order_number}}."}


class Author:
    """Answers requests; *spoil* changes a reply: it gets the reply and the request."""

    def __init__(self, spoil=None):
        self.spoil = spoil or (lambda reply, request: reply)

    def __call__(self, request):
        assert request.schema_name == "benchmark_carrier"
        return self.spoil(written(request.user), request)
