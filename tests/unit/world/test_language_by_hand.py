"""Fifty-three meanings and how a person would say them in each language, written by hand."""

from typing import NamedTuple

import pytest

from regard.world.language import GAP, Clause, Compound, Entity, Group, Place, Pronoun, Sentence, say


class Said(NamedTuple):
    meaning: Sentence
    en: str
    de: str
    it: str
    cs: str


def the(
    noun: str, *adjectives: str, number: int = 1, relative: Clause | None = None, of: Entity | None = None
) -> Entity:
    return Entity(noun, number, True, adjectives, owner=of, relative=relative)


def a(noun: str, *adjectives: str, number: int = 1, relative: Clause | None = None) -> Entity:
    return Entity(noun, number, False, adjectives, relative=relative)


ME, YOU, WE = Pronoun(1), Pronoun(2), Pronoun(1, True)
SHE, HE = Pronoun(3, like="woman"), Pronoun(3, like="man")


def it(noun: str) -> Pronoun:
    return Pronoun(3, like=noun)


def them(noun: str) -> Pronoun:
    return Pronoun(3, True, noun)


HAND: dict[str, Said] = {
    "the simplest sentence": Said(
        Sentence(Clause("sleep", the("cat"))),
        "The cat sleeps.",
        "Die Katze schläft.",
        "Il gatto dorme.",
        "Kočka spí.",
    ),
    "a clitic in the progressive": Said(
        Sentence(Clause("eat", ME, it("apple"), progressive=True)),
        "I am eating it.",
        "Ich esse ihn.",
        "La sto mangiando.",
        "Jím ho.",
    ),
    "adjectives agree": Said(
        Sentence(Clause("see", the("woman", "young"), a("dog", "big", "black"))),
        "The young woman sees a big black dog.",
        "Die junge Frau sieht einen großen schwarzen Hund.",
        "La donna giovane vede un grande cane nero.",
        "Mladá žena vidí velkého černého psa.",
    ),
    "a thing is not a living being in the Czech accusative": Said(
        Sentence(Clause("see", the("man"), a("table", "old"))),
        "The man sees an old table.",
        "Der Mann sieht einen alten Tisch.",
        "L'uomo vede un tavolo vecchio.",
        "Muž vidí starý stůl.",
    ),
    "elision before a vowel": Said(
        Sentence(Clause("find", the("friend"), a("orange", "sweet"), tense="past", place=Place("under", the("tree")))),
        "The friend found a sweet orange under the tree.",
        "Der Freund hat eine süße Orange unter dem Baum gefunden.",
        "L'amico ha trovato un'arancia dolce sotto l'albero.",
        "Kamarád našel sladký pomeranč pod stromem.",
    ),
    "uno before s and a consonant, lo before z": Said(
        Sentence(Clause("carry", the("boy"), Group((a("mirror"), the("backpack"))))),
        "The boy carries a mirror and the backpack.",
        "Der Junge trägt einen Spiegel und den Rucksack.",
        "Il ragazzo porta uno specchio e lo zaino.",
        "Chlapec nese zrcadlo a batoh.",
    ),
    "articles melt into prepositions": Said(
        Sentence(Clause("be", the("key", number=0), place=Place("on", the("table")))),
        "The keys are on the table.",
        "Die Schlüssel sind auf dem Tisch.",
        "Le chiavi sono sul tavolo.",
        "Klíče jsou na stole.",
    ),
    "in the kitchen": Said(
        Sentence(Clause("cook", the("grandmother"), the("soup"), progressive=True, place=Place("in", the("kitchen")))),
        "The grandmother is cooking the soup in the kitchen.",
        "Die Großmutter kocht die Suppe in der Küche.",
        "La nonna sta cucinando la zuppa nella cucina.",
        "Babička vaří polévku v kuchyni.",
    ),
    "into and in": Said(
        Sentence(Clause("go", the("child", number=0), tense="past", place=Place("into", the("house")))),
        "The children went into the house.",
        "Die Kinder sind ins Haus gegangen.",
        "I bambini sono andati nella casa.",
        "Děti šly do domu.",
    ),
    "essere agrees with her": Said(
        Sentence(Clause("go", SHE, tense="past", place=Place("into", the("school")))),
        "She went into the school.",
        "Sie ist in die Schule gegangen.",
        "È andata nella scuola.",
        "Šla do školy.",
    ),
    "a participle agrees with its clitic": Said(
        Sentence(Clause("buy", WE, them("cherry"), tense="past")),
        "We bought them.",
        "Wir haben sie gekauft.",
        "Le abbiamo comprate.",
        "Koupili jsme je.",
    ),
    "dative and accusative nouns": Said(
        Sentence(Clause("give", the("teacher"), a("book", "new"), the("girl"))),
        "The teacher gives the girl a new book.",
        "Der Lehrer gibt dem Mädchen ein neues Buch.",
        "Il maestro dà un libro nuovo alla ragazza.",
        "Učitel dává dívce novou knihu.",
    ),
    "dative pronoun": Said(
        Sentence(Clause("show", Pronoun(3, like="king"), the("castle"), SHE, tense="past")),
        "He showed her the castle.",
        "Er hat ihr das Schloss gezeigt.",
        "Le ha mostrato il castello.",
        "Ukázal jí zámek.",
    ),
    "two clitics": Said(
        Sentence(Clause("give", the("baker"), it("cake"), ME, tense="past")),
        "The baker gave it to me.",
        "Der Bäcker hat ihn mir gegeben.",
        "Il fornaio me l'ha data.",
        "Pekař mi ho dal.",
    ),
    "gli and lo make one word": Said(
        Sentence(Clause("send", ME, it("letter"), HE, tense="future")),
        "I will send it to him.",
        "Ich werde ihn ihm schicken.",
        "Gliela manderò.",
        "Pošlu mu ho.",
    ),
    "the object is a pronoun, the recipient is not": Said(
        Sentence(Clause("sell", the("farmer"), it("horse"), the("neighbour"))),
        "The farmer sells it to the neighbour.",
        "Der Bauer verkauft es dem Nachbarn.",
        "Il contadino lo vende al vicino.",
        "Farmář ho prodává sousedovi.",
    ),
    "a question with do": Said(
        Sentence(Clause("see", YOU, the("star")), True),
        "Do you see the star?",
        "Siehst du den Stern?",
        "Vedi la stella?",
        "Vidíš hvězdu?",
    ),
    "a question in the past": Said(
        Sentence(Clause("eat", the("fox"), the("egg", number=0), tense="past"), True),
        "Did the fox eat the eggs?",
        "Hat der Fuchs die Eier gegessen?",
        "La volpe ha mangiato le uova?",
        "Snědla liška vejce?",
    ),
    "a question with be": Said(
        Sentence(Clause("be", the("milk"), quality="fresh"), True),
        "Is the milk fresh?",
        "Ist die Milch frisch?",
        "Il latte è fresco?",
        "Je mléko čerstvé?",
    ),
    "not, of something known": Said(
        Sentence(Clause("read", the("brother"), the("letter"), negative=True)),
        "The brother does not read the letter.",
        "Der Bruder liest den Brief nicht.",
        "Il fratello non legge la lettera.",
        "Bratr nečte dopis.",
    ),
    "not, of something unknown": Said(
        Sentence(Clause("have", the("cook"), a("knife"), negative=True)),
        "The cook does not have a knife.",
        "Der Koch hat kein Messer.",
        "Il cuoco non ha un coltello.",
        "Kuchař nemá nůž.",
    ),
    "not, in the plural": Said(
        Sentence(Clause("eat", the("wolf"), a("carrot", number=0), negative=True)),
        "The wolf does not eat carrots.",
        "Der Wolf isst keine Karotten.",
        "Il lupo non mangia carote.",
        "Vlk nejí mrkve.",
    ),
    "not, with a place": Said(
        Sentence(Clause("sleep", the("bird"), negative=True, tense="past", place=Place("in", the("garden")))),
        "The bird did not sleep in the garden.",
        "Der Vogel hat nicht im Garten geschlafen.",
        "L'uccello non ha dormito nel giardino.",
        "Pták nespal v zahradě.",
    ),
    "is not": Said(
        Sentence(Clause("be", WE, quality="tired", negative=True)),
        "We are not tired.",
        "Wir sind nicht müde.",
        "Non siamo stanchi.",
        "Nejsme unavení.",
    ),
    "time first, verb second": Said(
        Sentence(Clause("buy", the("mother"), a("lamp"), when="yesterday", tense="past")),
        "Yesterday the mother bought a lamp.",
        "Gestern hat die Mutter eine Lampe gekauft.",
        "Ieri la madre ha comprato una lampada.",
        "Včera matka koupila lampu.",
    ),
    "time first, clitics second": Said(
        Sentence(Clause("see", Pronoun(1, like="woman"), it("dog"), when="today", tense="past")),
        "Today I saw it.",
        "Heute habe ich ihn gesehen.",
        "Oggi l'ho visto.",
        "Dnes jsem ho viděla.",
    ),
    "tomorrow": Said(
        Sentence(Clause("visit", Pronoun(2, True), the("queen"), when="tomorrow", tense="future")),
        "Tomorrow you will visit the queen.",
        "Morgen werdet ihr die Königin besuchen.",
        "Domani visiterete la regina.",
        "Zítra navštívíte královnu.",
    ),
    "a future that lasts": Said(
        Sentence(Clause("wait", ME, tense="future", place=Place("in front of", the("station")))),
        "I will wait in front of the station.",
        "Ich werde vor dem Bahnhof warten.",
        "Aspetterò davanti alla stazione.",
        "Budu čekat před nádražím.",
    ),
    "aspect: was reading": Said(
        Sentence(Clause("read", the("doctor"), a("magazine"), tense="past", progressive=True)),
        "The doctor was reading a magazine.",
        "Der Arzt las eine Zeitschrift.",
        "Il medico stava leggendo una rivista.",
        "Lékař četl časopis.",
    ),
    "aspect: read to the end": Said(
        Sentence(Clause("read", Pronoun(3, like="queen"), the("magazine"), tense="past")),
        "She read the magazine.",
        "Sie hat die Zeitschrift gelesen.",
        "Ha letto la rivista.",
        "Přečetla časopis.",
    ),
    "who: subject of a relative clause": Said(
        Sentence(Clause("help", the("man", relative=Clause("have", GAP, a("car"))), the("child"))),
        "The man who has a car helps the child.",
        "Der Mann, der ein Auto hat, hilft dem Kind.",
        "L'uomo che ha una macchina aiuta il bambino.",
        "Muž, který má auto, pomáhá dítěti.",
    ),
    "that: object of a relative clause": Said(
        Sentence(
            Clause(
                "be", the("cup", relative=Clause("break", the("cat"), GAP, tense="past")), quality="new", tense="past"
            )
        ),
        "The cup that the cat broke was new.",
        "Die Tasse, die die Katze zerbrochen hat, war neu.",
        "La tazza che il gatto ha rotto era nuova.",
        "Šálek, který kočka rozbila, byl nový.",
    ),
    "a relative clause behind the German verb": Said(
        Sentence(
            Clause("find", the("sister"), the("ring", relative=Clause("look-for", Pronoun(2), GAP)), tense="past")
        ),
        "The sister found the ring that you look for.",
        "Die Schwester hat den Ring gefunden, den du suchst.",
        "La sorella ha trovato l'anello che cerchi.",
        "Sestra našla prsten, který hledáš.",
    ),
    "a relative clause in a relative clause": Said(
        Sentence(
            Clause(
                "sleep",
                the("dog", relative=Clause("follow", GAP, the("boy", relative=Clause("eat", GAP, a("pear"))))),
                progressive=True,
            )
        ),
        "The dog that follows the boy who eats a pear is sleeping.",
        "Der Hund, der dem Jungen folgt, der eine Birne isst, schläft.",
        "Il cane che segue il ragazzo che mangia una pera sta dormendo.",
        "Pes, který sleduje chlapce, který jí hrušku, spí.",
    ),
    "that puts the German verb last": Said(
        Sentence(Clause("say", the("king"), content=Clause("buy", the("queen"), the("house"), tense="past"))),
        "The king says that the queen bought the house.",
        "Der König sagt, dass die Königin das Haus gekauft hat.",
        "Il re dice che la regina ha comprato la casa.",
        "Král říká, že královna koupila dům.",
    ),
    "clitics after that": Said(
        Sentence(Clause("know", ME, content=Clause("love", YOU, SHE))),
        "I know that you love her.",
        "Ich weiß, dass du sie liebst.",
        "So che la ami.",
        "Vím, že ji miluješ.",
    ),
    "two subordinate clauses": Said(
        Sentence(
            Clause(
                "say",
                SHE,
                content=Clause("see", the("father"), content=Clause("sing", the("bird", number=0), progressive=True)),
            )
        ),
        "She says that the father sees that the birds are singing.",
        "Sie sagt, dass der Vater sieht, dass die Vögel singen.",
        "Dice che il padre vede che gli uccelli stanno cantando.",
        "Říká, že otec vidí, že ptáci zpívají.",
    ),
    "because": Said(
        Sentence(
            Compound(Clause("drink", the("horse"), the("water")), "because", Clause("be", it("horse"), quality="tired"))
        ),
        "The horse drinks the water because it is tired.",
        "Das Pferd trinkt das Wasser, weil es müde ist.",
        "Il cavallo beve l'acqua perché è stanco.",
        "Kůň pije vodu, protože je unavený.",
    ),
    "but": Said(
        Sentence(
            Compound(Clause("be", the("soup"), quality="warm"), "but", Clause("be", the("coffee"), quality="cold"))
        ),
        "The soup is warm, but the coffee is cold.",
        "Die Suppe ist warm, aber der Kaffee ist kalt.",
        "La zuppa è calda, ma il caffè è freddo.",
        "Polévka je teplá, ale káva je studená.",
    ),
    "while": Said(
        Sentence(
            Compound(Clause("dance", Pronoun(2), progressive=True), "while", Clause("work", ME, progressive=True))
        ),
        "You are dancing while I am working.",
        "Du tanzt, während ich arbeite.",
        "Stai ballando mentre sto lavorando.",
        "Tančíš, zatímco pracuji.",
    ),
    "two of them": Said(
        Sentence(Clause("carry", the("woman", number=2), a("box", "heavy", number=3))),
        "The two women carry three heavy boxes.",
        "Die zwei Frauen tragen drei schwere Schachteln.",
        "Le due donne portano tre scatole pesanti.",
        "Dvě ženy nesou tři těžké krabice.",
    ),
    "five of them": Said(
        Sentence(Clause("eat", a("mouse", "small", number=5), the("cheese"), tense="past")),
        "Five small mice ate the cheese.",
        "Fünf kleine Mäuse haben den Käse gegessen.",
        "Cinque piccoli topi hanno mangiato il formaggio.",
        "Pět malých myší snědlo sýr.",
    ),
    "living plurals in Czech": Said(
        Sentence(Clause("follow", the("dog", "big", number=0), the("bear", "old", number=0), tense="past")),
        "The big dogs followed the old bears.",
        "Die großen Hunde sind den alten Bären gefolgt.",
        "I grandi cani hanno seguito gli orsi vecchi.",
        "Velcí psi sledovali staré medvědy.",
    ),
    "the owner": Said(
        Sentence(Clause("be", the("coat", of=the("doctor")), quality="white")),
        "The doctor's coat is white.",
        "Der Mantel des Arztes ist weiß.",
        "Il cappotto del medico è bianco.",
        "Kabát lékaře je bílý.",
    ),
    "bigger than": Said(
        Sentence(Clause("be", the("square"), quality="big", than=the("disc"))),
        "The square is bigger than the disc.",
        "Das Quadrat ist größer als die Scheibe.",
        "Il quadrato è più grande del disco.",
        "Čtverec je větší než kruh.",
    ),
    "with somebody": Said(
        Sentence(Clause("swim", the("duck"), place=Place("with", the("dog")))),
        "The duck swims with the dog.",
        "Die Ente schwimmt mit dem Hund.",
        "L'anatra nuota con il cane.",
        "Kachna plave se psem.",
    ),
    "for somebody": Said(
        Sentence(
            Clause("buy", Entity("Peter"), a("flower", number=4), tense="past", place=Place("for", Entity("Eva")))
        ),
        "Peter bought four flowers for Eva.",
        "Peter hat vier Blumen für Eva gekauft.",
        "Pietro ha comprato quattro fiori per Eva.",
        "Petr koupil čtyři květiny pro Evu.",
    ),
    "there is": Said(
        Sentence(
            Clause("there", a("star", "big", "red", "striped"), place=Place("left of", a("ring", "small", "blue")))
        ),
        "There is a big red striped star to the left of a small blue ring.",
        "Es gibt einen großen roten gestreiften Stern links von einem kleinen blauen Ring.",
        "C'è una grande stella rossa a strisce a sinistra di un piccolo anello blu.",
        "Je tu velká červená pruhovaná hvězda vlevo od malého modrého prstenu.",
    ),
    "two who are different": Said(
        Sentence(Clause("wash", Group((the("boy"), the("girl"))), the("plate", number=0), tense="past")),
        "The boy and the girl washed the plates.",
        "Der Junge und das Mädchen haben die Teller gewaschen.",
        "Il ragazzo e la ragazza hanno lavato i piatti.",
        "Chlapec a dívka umyli talíře.",
    ),
    "a question with a time": Said(
        Sentence(Clause("give", YOU, it("key"), HE, when="today", tense="past"), True),
        "Did you give it to him today?",
        "Hast du ihn ihm heute gegeben?",
        "Gliel'hai data oggi?",
        "Dal jsi mu ho dnes?",
    ),
    "not two": Said(
        Sentence(Clause("show", the("queen"), a("castle", number=2), SHE, negative=True)),
        "The queen does not show her two castles.",
        "Die Königin zeigt ihr nicht zwei Schlösser.",
        "La regina non le mostra due castelli.",
        "Královna jí neukazuje dva zámky.",
    ),
    "the owner is many": Said(
        Sentence(Clause("see", Entity("Anna"), the("house", "old", of=the("king", number=0)), tense="future")),
        "Anna will see the kings' old house.",
        "Anna wird das alte Haus der Könige sehen.",
        "Anna vedrà la casa vecchia dei re.",
        "Anna uvidí starý dům králů.",
    ),
    "weak nouns": Said(
        Sentence(Clause("look-for", the("neighbour"), the("bear"), tense="past", place=Place("next to", the("boy")))),
        "The neighbour looked for the bear next to the boy.",
        "Der Nachbar hat den Bären neben dem Jungen gesucht.",
        "Il vicino ha cercato l'orso accanto al ragazzo.",
        "Soused hledal medvěda vedle chlapce.",
    ),
}


@pytest.mark.parametrize("language", ["en", "de", "it", "cs"])
@pytest.mark.parametrize("name", HAND)
def test_a_meaning_is_said_as_a_person_would_say_it(name: str, language: str) -> None:
    said = HAND[name]
    assert say(said.meaning, language) == getattr(said, language)


def test_there_are_forty_by_hand_for_every_language() -> None:
    assert len(HAND) >= 40
