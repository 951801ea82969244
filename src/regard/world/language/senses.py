"""English words with two meanings, in sentences that settle which; most other languages have a word for each."""

from typing import NamedTuple

from regard.chance import Chance


class Sense(NamedTuple):
    """A sentence, the place of its ambiguous word, which sense it has, and the words of de, it, cs for that sense."""

    words: tuple[str, ...]
    place: int
    word: str
    sense: str
    translations: tuple[str, str, str]


_PEOPLE = (
    "man",
    "woman",
    "boy",
    "girl",
    "teacher",
    "doctor",
    "farmer",
    "cook",
    "neighbour",
    "mother",
    "father",
    "baker",
)
_WHO = (*(f"the {person}" for person in _PEOPLE), "Anna", "Peter", "Maria", "Paul", "Eva", "Martin")

# word: sense, its German, Italian and Czech words, and sentences; @ is somebody.
SENSES: dict[str, tuple[tuple[str, tuple[str, str, str], tuple[str, ...]], ...]] = {
    "bank": (
        (
            "money",
            ("Bank", "banca", "banka"),
            (
                "@ put the money in the bank",
                "the bank gave @ a loan",
                "@ opened an account at the bank",
                "@ worked at the bank and counted coins",
            ),
        ),
        (
            "river",
            ("Ufer", "riva", "břeh"),
            (
                "@ sat on the bank and looked at the river",
                "@ pulled the boat onto the bank",
                "on the muddy bank @ caught a fish",
                "@ swam from one bank to the other",
            ),
        ),
    ),
    "bat": (
        (
            "animal",
            ("Fledermaus", "pipistrello", "netopýr"),
            (
                "@ saw a bat asleep in the cave",
                "a bat flew over @ in the night",
                "the bat spread its wings above @",
                "@ heard the bat hunt for insects",
            ),
        ),
        (
            "club",
            ("Schläger", "mazza", "pálka"),
            (
                "@ hit the ball with a bat",
                "@ bought a wooden bat for the game",
                "the bat of @ broke when it hit the ball",
                "@ swung the bat and missed the ball",
            ),
        ),
    ),
    "crane": (
        (
            "bird",
            ("Kranich", "gru", "jeřáb"),
            (
                "@ saw a crane in its nest",
                "a crane flew over @ in autumn",
                "the crane ate a frog while @ watched",
                "@ fed the crane that had hurt a wing",
            ),
        ),
        (
            "machine",
            ("Kran", "gru", "jeřáb"),
            (
                "the crane lifted steel while @ watched",
                "@ drove the crane that built the tower",
                "@ repaired the motor of the crane",
                "the crane put the heavy beam before @",
            ),
        ),
    ),
    "light": (
        (
            "not heavy",
            ("leicht", "leggero", "lehký"),
            (
                "the empty bag of @ was light",
                "@ carried the light box with one hand",
                "the feather that @ found was light",
                "@ lifted the light chair without help",
            ),
        ),
        (
            "not dark",
            ("hell", "chiaro", "světlý"),
            (
                "the walls that @ painted were light",
                "@ wore a light blue coat",
                "it was light when @ woke up in summer",
                "the room of @ had big windows and was light",
            ),
        ),
    ),
    "bark": (
        (
            "tree",
            ("Rinde", "corteccia", "kůra"),
            (
                "@ cut the bark of the old oak",
                "@ peeled the rough bark off the branch",
                "the bark that @ touched was brown and dry",
                "under the bark @ found a beetle",
            ),
        ),
        (
            "dog",
            ("Bellen", "abbaio", "štěkot"),
            (
                "the bark of the dog woke @",
                "@ heard a loud bark behind the door",
                "with one bark the puppy greeted @",
                "the angry bark of the dog scared @",
            ),
        ),
    ),
    "spring": (
        (
            "season",
            ("Frühling", "primavera", "jaro"),
            (
                "in spring @ planted flowers",
                "after the winter @ waited for spring",
                "@ was born in spring",
                "spring came and @ saw the first leaves",
            ),
        ),
        (
            "coil",
            ("Feder", "molla", "pružina"),
            (
                "@ replaced the spring of the old clock",
                "the metal spring in the bed of @ broke",
                "@ pressed the spring and let it go",
                "a steel spring jumped out of the toy of @",
            ),
        ),
    ),
    "nail": (
        (
            "metal",
            ("Nagel", "chiodo", "hřebík"),
            (
                "@ hit the nail with a hammer",
                "@ hung the picture on a nail",
                "a rusty nail was in the board of @",
                "@ pulled the nail out of the wall",
            ),
        ),
        (
            "finger",
            ("Fingernagel", "unghia", "nehet"),
            (
                "@ painted every nail red",
                "@ bit the nail of a thumb",
                "@ cut the long nail with scissors",
                "the nail on the finger of @ was dirty",
            ),
        ),
    ),
    "seal": (
        (
            "animal",
            ("Robbe", "foca", "tuleň"),
            (
                "@ saw a seal swim in the sea",
                "the seal ate the fish of @",
                "a young seal lay on the ice before @",
                "@ threw a herring to the seal",
            ),
        ),
        (
            "stamp",
            ("Siegel", "sigillo", "pečeť"),
            (
                "@ broke the seal of the letter",
                "@ pressed a seal into the wax",
                "the king put a seal under the law for @",
                "the envelope of @ had a red seal",
            ),
        ),
    ),
    "palm": (
        (
            "tree",
            ("Palme", "palma", "palma"),
            (
                "@ slept under a palm on the beach",
                "@ picked a coconut from the palm",
                "the palm gave shade to @",
                "@ climbed the tall palm",
            ),
        ),
        (
            "hand",
            ("Handfläche", "palmo", "dlaň"),
            (
                "@ held a coin in the palm of one hand",
                "@ read the lines of my palm",
                "a drop of rain fell on the palm of @",
                "@ put the key into my open palm",
            ),
        ),
    ),
    "trunk": (
        (
            "elephant",
            ("Rüssel", "proboscide", "chobot"),
            (
                "the elephant lifted @ with its trunk",
                "@ gave a peanut to the trunk of the elephant",
                "the elephant washed its trunk near @",
                "with a wet trunk the elephant touched @",
            ),
        ),
        (
            "tree",
            ("Stamm", "tronco", "kmen"),
            (
                "@ sat on the trunk of a fallen tree",
                "@ sawed the thick trunk of the oak",
                "moss grew on the trunk beside @",
                "@ leaned on the trunk under the branches",
            ),
        ),
    ),
    "match": (
        (
            "game",
            ("Spiel", "partita", "zápas"),
            (
                "@ won the match by two goals",
                "@ watched the match in the stadium",
                "the match ended and the team of @ lost",
                "@ scored a goal in the last match",
            ),
        ),
        (
            "fire",
            ("Streichholz", "fiammifero", "zápalka"),
            (
                "@ lit the candle with a match",
                "the last match of @ was wet and did not burn",
                "@ struck a match and saw a flame",
                "with one match @ lit the fire",
            ),
        ),
    ),
    "bow": (
        (
            "weapon",
            ("Bogen", "arco", "luk"),
            (
                "@ shot an arrow with the bow",
                "@ drew the bow and hit the target",
                "the hunter sold a bow and arrows to @",
                "@ carried a bow through the forest",
            ),
        ),
        (
            "ribbon",
            ("Schleife", "fiocco", "mašle"),
            (
                "@ tied the ribbon into a bow",
                "@ wore a pink bow on the dress",
                "the gift for @ had a silk bow",
                "@ put a bow around the box of sweets",
            ),
        ),
    ),
}
_SETTINGS = ("", "once", "one day", "then")


def ambiguous(chance: Chance, held: bool) -> Sense:
    """A sentence with an ambiguous word; one sentence in four of each sense is held out."""
    word = chance.choose(tuple(SENSES))
    sense, translations, sentences = chance.choose(SENSES[word])
    last = len(sentences) - 1
    frame = sentences[last if held else chance.below(last)]
    told = [*chance.choose(_SETTINGS).split(), *frame.replace("@", chance.choose(_WHO)).split(), "."]
    return Sense(tuple(told), told.index(word), word, sense, translations)
