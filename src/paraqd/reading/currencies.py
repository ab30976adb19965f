"""List currencies with their names, codes, signs and coins.

To add a currency, add one row to the table in this module. The reader and the purity check derive their lists of names,
codes and signs from that table. Some rules apply to certain currencies only and name them: signs that may follow the
number (`quantity_draft`), prices with a decimal comma (`tokens`), and amounts in cents (`shared_units` and
`scoring.evidence.equal_quantities`). The operator f10 has a fixed choice of currencies (`operators.units`), because a
longer list would change every generated corpus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency.

    ``name`` is the canonical name. ``codes`` are abbreviations, and ``spellings`` are further names. ``signs`` are
    single characters. The codes and the words in ``before`` may precede a number (*Rs 5*, *rupees 5*). ``coin`` is the
    canonical name of the coin that is worth a hundredth of the currency. ``coin_of_its_own`` is False if that name
    always means the coin of a different currency. For example, *cent* always means a hundredth of a dollar.
    """

    name: str
    plural: str
    codes: tuple[str, ...] = ()
    signs: str = ""
    before: tuple[str, ...] = ()
    spellings: tuple[str, ...] = ()
    coin: str = ""
    coin_plural: str = ""
    coin_sign: str = ""
    coin_spellings: tuple[str, ...] = ()
    coin_of_its_own: bool = True

    @property
    def words(self) -> tuple[str, ...]:
        """The currency's one-word names and abbreviations, without those of its coin."""
        found = (self.name, self.plural, *self.spellings, *self.before, *self.codes)
        return tuple(dict.fromkeys(word for word in found if " " not in word))

    @property
    def coin_words(self) -> tuple[str, ...]:
        """The coin's names, or an empty tuple if these names mean the coin of a different currency."""
        found = (self.coin, self.coin_plural, *self.coin_spellings)
        return tuple(dict.fromkeys(word for word in found if word)) if self.coin_of_its_own else ()


CURRENCIES: tuple[Currency, ...] = (
    Currency(
        "dollar",
        "dollars",
        codes=("usd",),
        signs="$",
        spellings=("us dollar", "us dollars"),
        coin="cent",
        coin_plural="cents",
        coin_sign="¢",
    ),
    Currency(
        "rupee",
        "rupees",
        codes=("rs", "re", "inr"),
        signs="₹₨",
        before=("rupees",),
        spellings=("rupess", "rupee's"),
        coin="paisa",
        coin_plural="paise",
        coin_spellings=("paisas", "paises"),
    ),
    Currency(
        "pound sterling", "pounds sterling", codes=("gbp",), signs="£", coin="penny", coin_plural="pence"
    ),  # "pound" alone may be a weight
    Currency("euro", "euros", codes=("eur",), signs="€", coin="cent", coin_plural="cents", coin_of_its_own=False),
    Currency("yen", "yen", codes=("jpy",), signs="¥"),
    Currency("yuan", "yuan", codes=("cny", "rmb")),
    Currency("franc", "francs", codes=("chf",)),
    Currency("peso", "pesos"),
    Currency("naira", "naira", codes=("ngn",), signs="₦"),
    Currency("rand", "rand", codes=("zar",)),
    Currency("taka", "taka", codes=("bdt",)),
    Currency("ringgit", "ringgit", codes=("myr",)),
    Currency("dirham", "dirhams", codes=("aed",)),
    Currency("won", "won", codes=("krw",), signs="₩"),
)
BY_NAME = {currency.name: currency for currency in CURRENCIES}
# names of currencies that are also ordinary words
ORDINARY_WORDS = frozenset({"re", "won", "rand"})
# the one-word plurals of currencies and coins, such as dollars and cents
PLURALS: tuple[str, ...] = tuple(
    dict.fromkeys(
        word
        for currency in CURRENCIES
        for word in (currency.plural, currency.coin_plural)
        if word and " " not in word and word not in ORDINARY_WORDS
    )
)
# map signs to canonical units; a coin's sign follows the number, and the other signs precede it
SIGNS: dict[str, str] = {sign: currency.name for currency in CURRENCIES for sign in currency.signs}
COIN_SIGNS: dict[str, str] = {currency.coin_sign: currency.coin for currency in CURRENCIES if currency.coin_sign}
# map words that precede a number to canonical units
WORDS_BEFORE: dict[str, str] = {
    word: currency.name for currency in CURRENCIES for word in (*currency.codes, *currency.before)
}
# a regular expression that matches one sign before a number
SIGN_PATTERN = f"[{re.escape(''.join(SIGNS))}]"
