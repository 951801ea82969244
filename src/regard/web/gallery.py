"""Pictures worth a look, each a link to the live one. `docs/gallery.py` takes the pictures."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter

from regard.claims import load
from regard.files import read_json
from regard.lectures import PLACES, Place
from regard.lectures.places import claim_at
from regard.names import unknown
from regard.web.assets import PAGE
from regard.web.errors import RefusedError
from regard.web.state import AppState
from regard.zoo import readings

FOLDER = "gallery"  # of the page


@dataclass(frozen=True, slots=True)
class Entry:
    """A place, what is to be seen there, and the claim that puts it to the test."""

    name: str  # of a place, and of the picture
    title: str
    says: str
    claim: str = ""
    opened: bool = False  # the place is that claim, with its result open

    @property
    def place(self) -> Place:
        """Where it leads."""
        return claim_at(self.claim, opened=True) if self.opened else PLACES[self.name]


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "build-softmax",
        "Scores become shares",
        "Drag the question: the longer it is, the more decided is the look.",
        "scale",
    ),
    Entry("build-values", "Take what you looked at", "The answer follows the values of the words with large shares."),
    Entry(
        "build-mask", "No peeking", "Each word sees itself and those before it, so all are trained at once.", "future"
    ),
    Entry("build-heads", "Several looks at once", "Two heads look for different things in one sentence.", "heads"),
    Entry(
        "words-map",
        "30,000 words on a map",
        "Words that are used alike lie together; how far islands are apart says little.",
        "maps",
    ),
    Entry(
        "words-king", "King − man + woman", "The sum, and the rule about its answer that nobody mentions.", "algebra"
    ),
    Entry(
        "translate-glasses",
        "Every head of a translator",
        "German puts the verb last, and the English verb looks for it there.",
    ),
    Entry(
        "translate-order",
        "Another word order",
        "A recurrent network finds by itself which word comes from which; its error against the truth is shown.",
        "alignment",
    ),
    Entry(
        "translate-three",
        "Without, with, and nothing but attention",
        "One sentence, three translators, side by side.",
        "bottleneck",
    ),
    Entry("translate-beam", "How a sentence is found", "The beam as a tree: what was tried, and what it scored."),
    Entry("translate-neuron", "Query times key", "Number by number, why this word scores so high."),
    Entry("read-next", "What comes next", "After every token, what a GPT expects, and with what probability."),
    Entry("read-mask", "A hidden word", "BERT guesses from both sides; look at what it looks at.", "directions"),
    Entry(
        "see-patch", "What a patch looks at", "Click a patch of the picture and see it in every head.", "near_and_far"
    ),
    Entry(
        "see-three",
        "Three ways to group patches",
        "Swin, MaxViT and ACC-ViT on one picture: what each looks at, and what decides, beside the truth.",
        "partitions",
    ),
    Entry("see-detr", "One query, one thing", "DETR asks with learnt queries; each box shows where its query looked."),
    Entry(
        "caption-scene",
        "Words that light what they name",
        "A captioner looks at the picture for every word; the highest place is checked against the truth.",
        "captions",
    ),
    Entry(
        "match-shifts",
        "What survives a sketch",
        "A CLIP names one ring blurred, noisy, as a sketch and elsewhere, and is as sure where it is wrong.",
        "shifts",
    ),
    Entry(
        "ask-dax",
        "A new word from one example",
        "This is a dax, this is a wug: a Flamingo tells which of them the third picture shows.",
        "examples",
    ),
    Entry(
        "segment-ring",
        "What one click may mean",
        "A part, the thing, or a group of things: SAM gives a mask for each, beside the truth.",
        "ambiguous",
    ),
    Entry(
        "depth-eyes",
        "Depth from two eyes",
        "How far away everything is, by a net that was never told a distance.",
        "eyes",
    ),
    Entry(
        "sense-seven",
        "A Perceiver hears a digit",
        "A few latents listen to a sound; click one to see where.",
        "anything",
    ),
    Entry(
        "file-tired",
        "Too tired, or too wide?",
        "In this head “it” looks at the animal; end with “wide”, and it does so less than half as much.",
        "antecedents",
    ),
    Entry(
        "file-nurse",
        "Doctor and nurse",
        "Whom a language model takes “she” to be: a head that looks from “She” to the nurse.",
        "gender",
    ),
    Entry(
        "file-making",
        "Making … more difficult",
        "A head in which “making” looks at “more difficult”, six words on, and at little else.",
    ),
    Entry("world-scene", "A scene in four languages", "Point at a word and its thing lights up in every language."),
    Entry(
        "claim-room",
        "Room for concepts",
        "How nearly orthogonal can 10,000 vectors in 100 dimensions be?",
        "room",
        True,
    ),
    Entry(
        "claim-sequential",
        "One after the other, or all at once",
        "What length costs a recurrent network, and attention.",
        "sequential",
        True,
    ),
    Entry(
        "claim-memory",
        "Memory",
        "Attention need not keep all its weights, and then its memory grows with n, not n².",
        "memory",
        True,
    ),
    Entry("lectures-hoang", "A lecture as a tour", "Topics in order, each with something to open and to guess first."),
)


def router(_: AppState) -> APIRouter:
    """The gallery, and the recorded readings that some of it shows."""
    routes = APIRouter()

    @routes.get("/api/gallery")
    def every() -> list[dict[str, Any]]:
        """Every picture with its link and the verdict of its claim; one that was not taken yet has no address."""
        return [describe(entry) for entry in ENTRIES]

    @routes.get("/api/readings/{name}")
    def recorded(name: str) -> dict[str, Any]:
        """What a public model looked at in a sentence of the lectures, as a file of views."""
        known = readings()
        if name not in known:
            raise RefusedError(404, unknown("reading", name[:100], known))
        return read_json(known[name])

    return routes


def pages() -> tuple[str, ...]:
    """All that a site without a server needs, by the address that it is asked for."""
    return "/api/gallery", *(f"/api/readings/{name}" for name in readings())


def describe(entry: Entry) -> dict[str, Any]:
    """An entry as the page shows it."""
    picture, result = f"{FOLDER}/{entry.name}.webp", load(entry.claim) if entry.claim else None
    return {
        "name": entry.name,
        "title": entry.title,
        "says": entry.says,
        "room": entry.place.room,
        "address": entry.place.address,
        "picture": picture if (PAGE / picture).is_file() else None,
        "claim": {"name": entry.claim, "verdict": result.verdict if result else None} if entry.claim else None,
    }
