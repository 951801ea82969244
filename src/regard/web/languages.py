"""Which language a text is in, told by its commonest words, its letters and its script.

It needs no model and admits that it does not know. On the test sentences of Multi30k and Tatoeba, 2 of 100 or fewer are
taken for another language than theirs, and 85 to 100 of 100 in another language are noticed (tests/web/test_cautions).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection

NAMES = {
    "en": "English",
    "de": "German",
    "it": "Italian",
    "cs": "Czech",
    "fr": "French",
    "es": "Spanish",
    "nl": "Dutch",
}
COMMON = {
    "en": """a an the and or but if of to in on at by for with from into over under about as is are was were be
        been being am do does did have has had will would can could should may might must not no yes this that
        these those it its he she they we you i me him her them us my your his their our what who which when
        where why how there here then than so just very too also some any all each more most other only out up
        down off again because while after before between through during""",
    "de": """der die das den dem des ein eine einen einem einer eines und oder aber wenn als wie ist sind war
        waren sein bin bist hat habe haben hatte wird werden wurde kann kannst können muss soll will nicht kein
        keine ja nein ich du er sie es wir ihr mich mir dich dir ihm ihn uns euch sich mein meine dein deine
        seine unser was wer wo wann warum welche hier da dort dann sehr auch nur noch schon mit von zu zum zur
        bei aus nach vor über unter auf an am im in um für durch gegen ohne bis dass weil während zwischen""",
    "it": """il lo la i gli le un uno una di a da in con su per tra fra del dello della dei degli delle al allo
        alla ai alle dal dalla nel nella nei nelle sul sulla e ed o ma se che chi cui non è sono sei siamo era
        erano essere ho hai ha abbiamo hanno aveva io tu lui lei noi voi loro mi ti si ci vi me te questo questa
        questi quello quella come quando dove perché cosa più molto anche solo già ancora qui qua là mio mia tuo
        tua suo sua nostro""",
    "cs": """a i o u v ve s se z ze k ke na do od po pro při před za nad pod mezi bez je jsem jsi jsme jste
        jsou byl byla bylo byli být bude budou by bych že když jak co kdo kde kdy proč který která které ten ta
        to tento tato tyto ty já on ona ono my vy oni mě mi tě ti ho mu ji jí nás nám vás vám jim svůj jeho její
        jejich můj tvůj náš ne ano ale nebo ani už jen také ještě velmi tak tady tam nemá má mám""",
    "fr": """le la les un une des du de d l et ou mais si que qui quoi dont où quand comment pourquoi ne pas
        plus je tu il elle nous vous ils elles on me te se lui leur leurs mon ma mes ton ta tes son sa ses notre
        votre ce cet cette ces est sont était être suis es êtes ai as a avons avez ont avait dans en sur sous
        avec sans pour par à au aux chez entre très aussi bien""",
    "es": """el la los las un una unos unas de del y o pero si que quien no es son era ser está están estoy he
        has ha hemos han yo tú él ella nosotros ellos me te se lo le su sus mi mis tu en con por para sin sobre
        entre como cuando donde muy más también este esta estos eso hay qué""",
    "nl": """de het een en of maar als dat die is zijn was waren ben bent heeft heb hebben niet geen ik je jij
        hij zij wij we ze mij hem haar hun ons van in op aan met voor naar bij uit over om te door er wat wie
        waar hoe ook nog wel zeer dit deze""",
}
LETTERS = {
    "de": "äöüß",
    "cs": "áčďéěíňóřšťúůýž",
    "fr": "àâæçèéêëîïôœùûü",
    "it": "àèéìòù",
    "es": "áéíñóúü¿¡",
}
# What the names of letters begin with in Unicode.
SCRIPTS = {
    "CJK": "Chinese characters",
    "HIRAGANA": "Japanese letters",
    "KATAKANA": "Japanese letters",
    "HANGUL": "Korean letters",
    "CYRILLIC": "Cyrillic letters",
    "GREEK": "Greek letters",
    "ARABIC": "Arabic letters",
    "HEBREW": "Hebrew letters",
    "DEVANAGARI": "Devanagari letters",
    "THAI": "Thai letters",
}
MARGIN = 0.5  # by how much another language must fit better
WORDS = {language: frozenset(words.split()) for language, words in COMMON.items()}
_SHARED = Counter(word for words in WORDS.values() for word in words)
_SHARED_LETTERS = Counter(letter for letters in LETTERS.values() for letter in letters)


def script(text: str) -> str | None:
    """Which letters a text is mostly written in, unless they are Latin."""
    letters = [each for each in text if each.isalpha()]
    found = Counter(unicodedata.name(each, "").partition(" ")[0] for each in letters)
    foreign = {name: count for name, count in found.items() if name in SCRIPTS}
    if 2 * sum(foreign.values()) <= len(letters) or not foreign:
        return None
    return SCRIPTS[max(foreign, key=lambda name: foreign[name])]


def other_language(text: str, own: Collection[str]) -> str | None:
    """The language that a text is in, if it is another than its reader's own; None where it is not certain."""
    fits = {language: _fit(text, language) for language in WORDS}
    mine = max((fits.get(language, 0.0) for language in own), default=0.0)
    others = [language for language in fits if language not in own]
    if not others or not any(language in WORDS for language in own):
        return None
    best = max(others, key=lambda language: fits[language])
    return best if fits[best] >= mine + MARGIN else None


def _fit(text: str, language: str) -> float:
    """How many common words and letters of a language a text has; what several languages have counts in parts."""
    lower = text.lower()
    words = sum(1 / _SHARED[word] for word in re.findall(r"[^\W\d_]+", lower) if word in WORDS[language])
    letters = LETTERS.get(language, "")
    return words + 0.7 * sum(1 / _SHARED_LETTERS[each] for each in lower if each in letters)
