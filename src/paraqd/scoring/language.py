"""Recognise texts that are not in English, by their letters and their commonest words.

The lists are short: a word problem of one sentence already contains several of these words. Texts without any of them,
such as formulas, code or random letters, are not reported.
"""

from __future__ import annotations

import re
import unicodedata

from paraqd.scoring.markup import remove_markup

_WORD = re.compile(r"[^\W\d_]+")
_FEW_LETTERS = 8
_MANY_WORDS, _FEW_WORDS = 3, 2  # of another language; a few are enough if the text has hardly any English word
_MOST_ENGLISH = 2  # English words for each word of another language

_ENGLISH = frozenset(
    """
    the of and to is was are were be been what how many much if for from with by at on it its he she his her they their
    them this that these those which who when where there than then as has have had does did do can will would should
    not each every all some more less fewer find calculate determine after before left total number per same both only
    between into out up my your our you we an or but so first last another other same get gets got give gives bought
    buys sold sells cost costs takes take makes make long total altogether remaining share ratio
    """.split()
)

# These lists leave out words that also occur in English problems, including names (men, son, Dan, Los, de la).
_OTHERS = {
    "Spanish": """
        el una unos unas que con por para se su sus lo le les es está están tiene tienen cuántos cuántas cuánto cuánta
        cuantos cuantas cuanto cuál cual cada más menos pero como compra compró vende vendió cuesta cuestan entre
        después antes quedan queda tenía él ellos
    """,
    "Portuguese": """
        os um uns umas da das dos na nas em por para que se seu sua seus suas ao aos são está estão tem têm há quantos
        quantas quanto quanta qual cada mais menos mas como comprou vendeu custa custam entre depois antes restam
        sobraram ele ela eles foi tinha você não
    """,
    "French": """
        le les une du des et est sont dans pour avec qui que il elle ils elles ce cette ces sur aux combien quel
        quelle quels quelles chaque moins mais comme achète acheté vend vendu coûte coûtent entre après avant reste
        restent ont avait était leur leurs se sa ses pas
    """,
    "German": """
        der das des ein eine einen einem einer eines und ist sind haben hatte mit von für auf im zu zum zur nicht auch
        wie viele viel wieviele wieviel jede jeder jedes jeden mehr als wenn aber kauft verkauft kostet kosten
        zwischen nach vor bleiben bleibt übrig sie es ihr ihm sich aus bei beträgt
    """,
    "Italian": """
        il gli una uno della delle dei degli nel nella di che sono hanno con da dalla suo sua suoi quanti quante
        quanto quanta quale ogni più meno ma compra comprato vende venduto costa costano tra dopo prima restano
        rimangono egli lei loro ciascuno
    """,
    "Dutch": """
        het een uur zijn heeft hebben voor op niet ook hoeveel veel elke iedere meer minder als maar koopt kocht
        verkoopt kost kosten tussen nadat blijven blijft hij zij ze haar aan uit bij naar deze dit wordt worden
    """,
    "Scandinavian": """
        och att det som ett av för med har är inte hur många mycket varje mer mindre köper kostar efter hon sina og
        til ikke hvor mange meget hver mere kjøper koster etter sine på fra jeg blir igjen tilbage kvar
    """,
    "Finnish": """
        ja ei että se hän hänellä kuinka monta paljon moni jokainen enemmän vähemmän mutta kun jos ostaa maksaa
        jälkeen ovat oli joka myös jäljellä yhteensä
    """,
    "Polish": """
        na do że się jest są nie ma mają ile jak jaki jaka jakie każdy każda każde więcej mniej ale jeśli kupił kupiła
        kosztuje po przed zostało od dla oraz przez jego jej ich który która które
    """,
    "Czech": """
        je jsou má mají se na do že kolik jak každý každá každé více méně ale koupil koupila stojí po před zůstalo od
        nebo jeho její jejich který která které celkem
    """,
    "Romanian": """
        și este sunt pe pentru din câte câți cât fiecare mai mult puțin dar dacă cumpără costă după înainte rămân său
        sa lor lui unei
    """,
    "Hungarian": """
        és egy hogy nem hány mennyi minden több kevesebb vesz vett kerül után előtt maradt neki ők volt ennek annak
    """,
    "Turkish": """
        bir bu ile için kaç kadar tane daha çok eğer aldı alır satın lira sonra önce kaldı kalır onun olan vardır var
        olarak toplam kaçtır
    """,
    "Indonesian": """
        yang di ke dari untuk dengan ini itu adalah memiliki mempunyai berapa banyak setiap lebih kurang tetapi jika
        membeli menjual harga setelah sebelum sisa ada dia mereka buah masing pada seorang sebuah dalam
    """,
    "Vietnamese": """
        và có của là một các cho với trong được bao nhiêu mỗi hơn nhưng nếu mua bán giá sau trước còn lại hỏi hai
        những người thì cái quả
    """,
    "Tagalog": """
        ang ng mga sa ay ilan ilang niya kanyang bawat siya nila kung para ni magkano bumili binili natira naiwan
        lahat
    """,
    "Swahili": """
        na ya wa kwa ni ngapi kila zaidi lakini kama alinunua baada kabla alibaki yake wao hii hizo katika gani
        jumla
    """,
    "Hindi": """
        hai hain ke ki ka ko se mein aur paas kitne kitna kitni har ek agar nahi tha thi wo woh uske uska uski
        uss apne liye kya bache bacha baad pehle kul rupaye zyada hota hoti hua gaya diya deta deti karta
    """,
}
_OTHER_WORDS = tuple(frozenset(words.split()) - _ENGLISH for words in _OTHERS.values())
# words of several languages that also occur in English problems; they count only beside a word of another language
_SHARED_WORDS = frozenset("de la die en un los las van den al del si".split())
_ALL_OTHER_WORDS = frozenset().union(*_OTHER_WORDS)


def is_foreign(text: str) -> bool:
    """Return True if a text is clearly not in English.

    A text in two languages counts as foreign if it has at least half as many common words of the other language as of
    English.

    >>> is_foreign("Juan tiene 5 manzanas y compra 3. ¿Cuántas tiene?"), is_foreign("Juan has 5 tacos. How many?")
    (True, False)
    """
    plain = remove_markup(text).text
    if not plain.isascii() and latin_share(plain) < 0.5:
        return True
    found = set(_WORD.findall(plain))
    words = {word.lower() for word in found}
    accented = {word for word in found if not word.isascii() and len(word) > 2 and word.isalpha() and word.islower()}
    if not accented and not words & _ALL_OTHER_WORDS:  # so in nearly every English text
        return False
    english = len(words & _ENGLISH)
    other = max(len(words & theirs) for theirs in _OTHER_WORDS)
    if other >= _MANY_WORDS:
        return english <= _MOST_ENGLISH * other
    few = len(accented - _ALL_OTHER_WORDS) + other
    return english <= 1 and few > 0 and few + len(words & _SHARED_WORDS) >= _FEW_WORDS


def latin_share(plain: str) -> float:
    """Return the proportion of Latin letters among the letters of a plain text, or 0.5 if it has few letters."""
    letters = [sign for sign in unicodedata.normalize("NFKC", plain) if sign.isalpha()]
    if len(letters) < _FEW_LETTERS:
        return 0.5
    return sum(sign < "\u0250" or "\u1e00" <= sign < "\u1f00" for sign in letters) / len(letters)
