"""One meaning said in English, German, Italian and Czech, with the truth about every word.

    view = pairs("it", "en", seed=1)
    view[7].source, view[7].target, view[7].alignment

A meaning is a frozen value (`Clause`, `Entity`, …); `say(meaning, "de")` writes it down.
"""

from regard.world.language.dialogues import Turn
from regard.world.language.episodes import Meaning, PictureEpisode, Shot
from regard.world.language.meaning import GAP, Clause, Compound, Entity, Group, Place, Pronoun, Sentence, refers
from regard.world.language.motions import Event, Motion
from regard.world.language.questions import Episode, Question, ask
from regard.world.language.realise import LANGUAGES, Pair, align, grammar, pair, say, text, vocabulary, words
from regard.world.language.reports import Report
from regard.world.language.scenes import STYLES, Description, describe
from regard.world.language.senses import SENSES, Sense
from regard.world.language.stories import Story
from regard.world.language.trees import Tree, bracket, leaves, parse, tree
from regard.world.language.views import (
    Asked,
    Described,
    Dialogue,
    Filmed,
    Next,
    Parsed,
    Spoken,
    descriptions,
    dialogues,
    episodes,
    motions,
    nexts,
    pairs,
    picture_episodes,
    questions,
    reports,
    senses,
    sentences,
    stories,
    trees,
)

__all__ = [
    "GAP",
    "LANGUAGES",
    "SENSES",
    "STYLES",
    "Asked",
    "Clause",
    "Compound",
    "Described",
    "Description",
    "Dialogue",
    "Entity",
    "Episode",
    "Event",
    "Filmed",
    "Group",
    "Meaning",
    "Motion",
    "Next",
    "Pair",
    "Parsed",
    "PictureEpisode",
    "Place",
    "Pronoun",
    "Question",
    "Report",
    "Sense",
    "Sentence",
    "Shot",
    "Spoken",
    "Story",
    "Tree",
    "Turn",
    "align",
    "ask",
    "bracket",
    "describe",
    "descriptions",
    "dialogues",
    "episodes",
    "grammar",
    "leaves",
    "motions",
    "nexts",
    "pair",
    "pairs",
    "parse",
    "picture_episodes",
    "questions",
    "refers",
    "reports",
    "say",
    "senses",
    "sentences",
    "stories",
    "text",
    "tree",
    "trees",
    "vocabulary",
    "words",
]
