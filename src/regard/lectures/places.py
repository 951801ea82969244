"""Places of the explorer worth opening, by name: the one table that tours and the gallery take their links from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

PLAIN = ",;:/|@"  # stay as they are in an address, so that a link can be read


@dataclass(frozen=True, slots=True)
class Place:
    """A room in a state, and what to call it."""

    title: str
    room: str
    state: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where it is on the page, as the page itself writes it."""
        words = [f"{name}={quote(value, safe=PLAIN).replace('%20', '+')}" for name, value in self.state.items()]
        return f"#/{self.room}" + (f"?{'&'.join(words)}" if words else "")


def _build(step: str, title: str) -> Place:
    return Place(f"Build up: {title}", "build", {"step": step})


def _translate(title: str, models: str, said: str, **more: str) -> Place:
    return Place(f"Translate: {title}", "translate", {"m": models, "in": said, **more})


def _read(title: str, model: str, text: str, **more: str) -> Place:
    return Place(f"Read: {title}", "read", {"m": model, "in": f"t:{text}", **more})


def _see(title: str, model: str, picture: str, **more: str) -> Place:
    return Place(f"See: {title}", "see", {"m": model, "in": f"p:{picture}", **more})


def _look(room: str, title: str, model: str, said: str, **more: str) -> Place:
    return Place(f"{room.capitalize()}: {title}", room, {"m": model, "in": said, **more})


def _recorded(title: str, reading: str, **more: str) -> Place:
    return Place(f"Your file: {title}", "file", {"in": f"r:{reading}", **more})


def claim_at(name: str, *, opened: bool = False) -> Place:
    """A claim, before a guess or with its result open."""
    return Place(f"Claim: {name.replace('_', ' ')}", "claims", {"name": name} | ({"show": "1"} if opened else {}))


GLASSES = "t:Die Frau, die eine Brille trägt, liest ein Buch."
KITCHEN = "t:Ein Koch schneidet Gemüse in einer kleinen Küche."
LONG = (
    "t:Ein Mann mit einem gelben Helm und einer orangefarbenen Weste steht auf einer Leiter neben einem großen Haus, "
    "während zwei andere Männer mit blauen Jacken unten auf der Straße warten und nach oben schauen."
)
THREE = "world-swin,world-maxvit,world-accvit"  # each groups its patches in another way
COINED = "s:world:1 This is a dax.\nworld:29 This is a wug.\nworld:27 This is a"  # two new words, and a question
SHIFTED = "p:" + ",".join(["world:1", *(f"world:1/{shift}" for shift in ("blur", "noise", "sketch", "backgrounds"))])
WORLD = "w:it-en-7"  # a sentence of the little world, whose alignment is known

PLACES: dict[str, Place] = {
    "build-words": _build("words", "words are vectors"),
    "build-additive": _build("additive", "the first attention"),
    "build-dot": _build("dot", "scores by a product"),
    "build-scaled": _build("scaled", "divide by √d"),
    "build-softmax": _build("softmax", "scores become shares"),
    "build-values": _build("values", "take what you looked at"),
    "build-self": _build("self", "every word asks"),
    "build-heads": _build("heads", "several looks at once"),
    "build-mask": _build("mask", "no peeking"),
    "build-cross": _build("cross", "one sentence asks another"),
    "build-order": _build("order", "where a word stands"),
    "build-block": _build("block", "the Transformer block"),
    "build-learning": _build("learning", "watch attention learn"),
    "build-next": _build("next", "where the answer goes"),
    "words-map": Place("Words: the map", "words"),
    "words-king": Place("Words: king − man + woman", "words", {"as": "sums", "sum": "king - man + woman"}),
    "words-capitals": Place("Words: countries and capitals", "words", {"as": "sums", "arrows": "country – capital"}),
    "words-bank": Place("Words: what is near “bank”", "words", {"w": "bank"}),
    "words-room": Place("Words: room for concepts", "words", {"as": "concepts"}),
    "translate-glasses": _translate("a relative clause", "de-en", GLASSES),
    "translate-additive": _translate("one look a word", "de-en-additive", KITCHEN),
    "translate-fixed": _translate("without attention", "de-en-fixed", KITCHEN),
    "translate-three": _translate("three models side by side", "de-en-fixed,de-en-additive,de-en", KITCHEN),
    "translate-long": _translate("a long sentence, with and without attention", "de-en-fixed,de-en-additive", LONG),
    "translate-order": _translate("another word order", "world-it-en-additive", WORLD, **{"as": "matrix"}),
    "translate-eating": _translate("“La sto mangiando.”", "it-en", "t:La sto mangiando."),
    "translate-sky": _translate("“Vediamo il cielo.”", "it-en", "t:Vediamo il cielo."),
    "translate-czech": _translate("Czech", "cs-en", "t:Dva psi běží po trávě."),
    "translate-beam": _translate("the beam as a tree", "de-en", GLASSES, **{"as": "beam"}),
    "translate-neuron": _translate(
        "query and key, number by number",
        "de-en",
        GLASSES,
        **{"as": "neuron", "look": "decoder.blocks.3.cross:0", "at": "1"},
    ),
    "read-next": _read("what comes next", "captions", "A dog is running through the"),
    "read-shakespeare": _read("Shakespeare, letter by letter", "shakespeare", "ROMEO:"),
    "read-story": _read("a story of the little world", "world-gpt", "Anna found a dog."),
    "read-mask": _read("a hidden word", "world-bert", "The dog was [MASK]."),
    "read-it": _read("what “it” stands for", "world-bert", "Anna found a dog. It was tired."),
    "read-causal": _read("nobody sees the future", "world-gpt", "The dog went into the forest.", **{"as": "matrix"}),
    "see-patch": _see("what a patch looks at", "cifar10-vit", "photo:cat", at="45,40"),
    "see-heads": _see("all heads, and how far they look", "cifar10-vit", "photo:cat"),
    "see-rollout": _see("all layers together", "cifar10-vit", "photo:cat", how="rollout"),
    "see-decides": _see("what decides", "cifar10-vit", "photo:cat", **{"as": "decides"}),
    "see-pca": _see("features as colours", "cifar10-vit", "photo:cat", **{"as": "features"}),
    "see-three": _see("Swin, MaxViT and ACC-ViT on one picture", THREE, "world:36", truth="1", **{"as": "compare"}),
    "see-groups": _see("windows, grids and atrous groups", THREE, "world:36", **{"as": "groups"}),
    "see-detr": _see("boxes, and what each query looks at", "world-detr", "world:7"),
    "caption-scene": _look("caption", "a word and its region", "world-captions", "p:world:2", truth="1", at="10"),
    "match-shifts": _look(
        "match",
        "one thing under five shifts",
        "world-clip",
        SHIFTED,
        says="orange ring\npurple cross\nyellow ring\nred star",
        tpl="There is {a}.",
    ),
    "ask-dax": _look("ask", "a new word from one example", "world-flamingo", COINED),
    "segment-ring": _look("segment", "what one click may mean", "world-sam", "p:world:7", pt="i19,58", truth="1"),
    "depth-eyes": _look("depth", "how far away, beside the truth", "world-depth", "p:world:7"),
    "sense-seven": _look("sense", "a spoken digit", "spoken-digits", "t:sound:7", at="6"),
    "file-tired": _recorded("“… because it was too tired.”", "minilm-tired", look="encoder.blocks.3.attn:1", at="10"),
    "file-wide": _recorded("“… because it was too wide.”", "minilm-wide", look="encoder.blocks.3.attn:1", at="10"),
    "file-nurse": _recorded("doctor and nurse", "smollm2-nurse", look="decoder.blocks.9.attn:4", at="8"),
    "file-doctor": _recorded("nurse and doctor", "smollm2-doctor", look="decoder.blocks.9.attn:4", at="8"),
    "file-making": _recorded("“making … more difficult”", "minilm-making", look="encoder.blocks.2.attn:1", at="10"),
    "file-karel": _recorded("“Karel is teacher …”", "minilm-karel", look="encoder.blocks.2.attn:3", at="1"),
    "world-scene": Place("World: a scene in four languages", "world", {"index": "3"}),
    "world-eyes": Place("World: two eyes", "world", {"index": "12", "stereo": "both"}),
    "world-counts": Place("World: how many there are", "world", {"index": "5", "style": "counts"}),
    "lectures-hoang": Place("Lectures: attention, step by step", "lectures", {"deck": "003"}),
}
