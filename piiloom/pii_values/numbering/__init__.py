"""How numbers that somebody issues are formed: ids by country, cards and accounts, with their check digits and the ranges kept for tests.

The rules draw from ``choices.Choices``, so that they serve both texts written anew (a random generator) and surrogates (a seed).
"""
