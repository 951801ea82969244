"""What trains pictures and captions together: a model to begin with, and batches of pairs.

Of a tower that stays as it is, batches hold what it made of pictures or texts, which is computed once and kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from regard.chance import Chance
    from regard.data import Batches
    from regard.data.captioned import Captioned
    from regard.recipes.match import Recipe
    from regard.text import Tokenizer
    from regard.vision import Processor


FAMILIES = ("clip", "groupvit")  # whose models this trains
TOGETHER = 64  # pictures or texts that are read at once in a measurement


class Pairs(NamedTuple):
    """A batch of pictures and texts, or of what frozen towers made of them; equal keys are equal captions."""

    image: "Tensor | None"
    seen: "Tensor | None"
    ids: "Tensor | None"
    lengths: "Tensor | None"
    told: "Tensor | None"
    keys: "Tensor"


class Begin(NamedTuple):
    """What a training begins with."""

    family: Any
    model: Any
    tokenizer: "Tokenizer"
    processor: "Processor"
    frozen: frozenset[str]  # "image" and "text"
    before: Mapping[str, str]  # which trained models the towers were
    story: Mapping[str, Any] = {}  # of a whole trained model that goes on learning


def read(recipe: "Recipe") -> "Captioned":
    """What is learnt from; in the world, half of what is said of a picture are colours and kinds alone."""
    from regard.data.captions import captioned
    from regard.data.named import world_named

    if recipe.data == "world":
        return world_named("train", count=recipe.limit)
    return captioned(recipe.data, "train", limit=recipe.limit)


def start(recipe: "Recipe", train: "Captioned") -> Begin:
    """A fresh model around fresh or trained towers, and a tokenizer learnt from the captions or brought along."""
    import torch

    from regard.layers.mimetic import mimetic
    from regard.models import bert, families
    from regard.recipes import choose
    from regard.recipes.shown import trained_tower, usual_processor, without_head

    torch.manual_seed(recipe.seed)
    if recipe.model not in {preset for each in families().values() for preset in each.presets}:
        return _trained(recipe)
    family = choose.family_of(recipe.model)
    if family.name not in FAMILIES:
        raise ValueError(f"{recipe.model} is a {family.name}, which matches no texts; choose a preset of clip")
    config: Any = replace(family.presets[recipe.model], **choose.parse(family, recipe.set))
    if family.name == "groupvit":
        return _grouping(recipe, train, family, config)
    _check_bias(recipe, config)
    seer = trained_tower(recipe.tower, pickle=recipe.pickle) if recipe.tower else None
    reader = _trained_text(recipe)
    if isinstance(config.text, bert.Config) and reader is None:
        raise ValueError(f"{recipe.model} reads with a trained BERT, and none is named; give --text, say a MiniLM")
    if reader is None:
        tokenizer = _fresh_tokenizer(recipe, train)
        config = replace(config, text=replace(config.text, vocab=tokenizer.vocab))
    else:
        tokenizer = reader.tokenizer
        config = replace(config, text=replace(reader.model.config, head="none"))
    size = recipe.size or config.image.size
    seen = replace(config.image if seer is None else seer.model.config, size=size, classes=0)
    model: Any = family.model(replace(config, image=seen))
    if recipe.init == "mimetic":
        mimetic(model)
    before = {}
    for name, found in (("image", seer), ("text", reader)):
        if found is not None:
            getattr(model, name).load_state_dict(without_head(found.model))
            before[name] = found.name
    frozen = {"trained": before, "both": ("image", "text"), "none": ()}.get(recipe.freeze, (recipe.freeze,))
    for name in frozen:
        getattr(model, name).requires_grad_(False)
    return Begin(family, model, tokenizer, usual_processor(size, seer), frozenset(frozen), before)


def _trained(recipe: "Recipe") -> Begin:
    """A trained model that goes on learning, with its own tokenizer, and pictures prepared as it is used to."""
    from regard.data import DataError
    from regard.hub import CheckpointError, load
    from regard.recipes import choose
    from regard.recipes.shown import usual_processor
    from regard.recipes.writer import story

    try:
        found = load(recipe.model, pickle=recipe.pickle)
    except CheckpointError as error:
        raise DataError(f"training cannot begin from {recipe.model}: {error}; presets: regard list models") from None
    if found.family is None or found.family.name not in FAMILIES or found.tokenizer is None:
        raise ValueError(f"{recipe.model} matches no texts; give a trained clip or groupvit with its tokenizer")
    for name in ("set", "tower", "text", "size"):
        if given := getattr(recipe, name):
            raise ValueError(f"--{name} {given} changes {recipe.model}, which is trained already; leave it out")
    choose.refuse(recipe, ("vocab", "lower", "init"), f"on {recipe.model}, which is trained already")
    config: Any = found.model.config
    if found.family.name == "clip":
        _check_bias(recipe, config)
    frozen = {"trained": (), "none": (), "both": ("image", "text")}.get(recipe.freeze, (recipe.freeze,))
    for name in frozen:
        getattr(found.model, name).requires_grad_(False)
    before = story(found.card) or {"name": found.name}
    processor = found.processor or usual_processor(config.size)
    return Begin(found.family, found.model, found.tokenizer, processor, frozenset(frozen), {}, before)


def _check_bias(recipe: "Recipe", config: Any) -> None:
    if config.bias and recipe.loss == "softmax":
        raise ValueError("a bias changes no choice among texts, so that nothing teaches it; say --loss sigmoid")


def _grouping(recipe: "Recipe", train: "Captioned", family: Any, config: Any) -> Begin:
    """A fresh GroupViT, which has no towers to bring along."""
    from regard.layers.mimetic import mimetic
    from regard.recipes.shown import usual_processor

    refused = {"tower": recipe.tower, "text": recipe.text, "chunk": recipe.chunk}
    refused |= {"loss": recipe.loss if recipe.loss != "softmax" else ""}
    for name, given in refused.items():
        if given:
            raise ValueError(f"--{name} {given} is of no use to {recipe.model}; leave it out")
    tokenizer, size = _fresh_tokenizer(recipe, train), recipe.size or config.size
    model = family.model(replace(config, size=size, text=replace(config.text, vocab=tokenizer.vocab)))
    if recipe.init == "mimetic":
        mimetic(model)
    return Begin(family, model, tokenizer, usual_processor(size), frozenset(), {})


def _fresh_tokenizer(recipe: "Recipe", train: "Captioned") -> "Tokenizer":
    """Of the words of the world, or of pieces of words where people wrote the captions."""
    from regard.text import Tokenizer

    said = (caption for some in train.captions for caption in some)
    kind: Any = "words" if train.truth is not None else "pieces"
    return Tokenizer.train(said, kind=kind, vocab=recipe.vocab, lower=recipe.lower)


def _trained_text(recipe: "Recipe") -> Any:
    """A trained BERT and its tokenizer, where one is named."""
    from regard.data import DataError
    from regard.hub import CheckpointError, load
    from regard.models import bert

    if not recipe.text:
        return None
    try:
        found = load(recipe.text, pickle=recipe.pickle)
    except CheckpointError as error:
        raise DataError(f"--text {recipe.text} cannot be read: {error}") from None
    if not isinstance(getattr(found.model, "config", None), bert.Config) or found.tokenizer is None:
        raise ValueError(f"--text {recipe.text} is no BERT with a tokenizer; give one, say a MiniLM")
    return found


class Rows(NamedTuple):
    """Pictures and all their captions, as the model takes them."""

    seen: "np.ndarray"  # pixels, or maps of features of a frozen tower
    told: "np.ndarray | None"  # vectors of a frozen text tower
    ids: "list[list[int]]"
    mirrored: "list[list[int]]"
    first: "list[int]"  # the number of the first caption of each picture, and behind the last one how many there are


def rows_of(recipe: "Recipe", begin: Begin, known: "Captioned") -> Rows:
    """All pictures and captions; what frozen towers make of them is computed, or found in the cache."""
    import numpy as np

    from regard.data.kept import kept
    from regard.pipelines.match import encode
    from regard.recipes.shown import plain_name
    from regard.train.features import pixels_of, tower_features, weights_hash

    pairs, context = known.pairs(), begin.model.config.context
    texts = [known.captions[i][j] for i, j in pairs]
    ids = encode(begin.tokenizer, texts, limit=context)
    varied = recipe.mirror and not begin.frozen
    mirrored = encode(begin.tokenizer, [known.mirror(i, j) for i, j in pairs], limit=context) if varied else ids
    name = plain_name(recipe.data)
    told = None
    if "image" in begin.frozen:
        seen: np.ndarray = tower_features(begin.model.image, known, begin.processor, name=name)
    else:
        seen = pixels_of(known, begin.processor, name=name)
    if "text" in begin.frozen:
        key = f"{weights_hash(begin.model.text)} {known.checksum} {context}"
        told = kept(f"texts {name}", key, len(ids), lambda rows: _told(begin, [ids[i] for i in rows]))
    starts = np.searchsorted([i for i, _ in pairs], np.arange(len(known) + 1)).tolist()
    return Rows(seen, told, ids, mirrored, starts)


def _told(begin: Begin, rows: "Sequence[Sequence[int]]") -> "np.ndarray":
    """What a frozen text tower makes of texts."""
    import torch

    from regard.decode.forcing import evaluating

    ids, lengths = pad(begin, rows)
    with evaluating(begin.model), torch.inference_mode():
        found: np.ndarray = begin.model.text(ids, lengths).float().numpy()
    return found


def pad(begin: Begin, rows: "Sequence[Sequence[int]]") -> "tuple[Tensor, Tensor | None]":
    """Rows side by side as the text tower reads them."""
    from regard.pipelines.match import fill

    return fill(begin.model.config, rows, begin.tokenizer.pad or 0)


def batches(recipe: "Recipe", begin: Begin, known: "Captioned") -> "Batches[Pairs]":
    """Pictures with one of their captions, drawn anew each time, and varied where a tower sees pixels."""
    from regard.data import Batches, Order
    from regard.data.contents import contents

    rows = rows_of(recipe, begin, known)

    def collate(chosen: Any, chance: "Chance | None") -> Pairs:
        pictures = chosen.tolist()
        which = [
            rows.first[i] + (0 if chance is None else chance.below(rows.first[i + 1] - rows.first[i])) for i in pictures
        ]
        return _collate(recipe, begin, rows, pictures, which, chance)

    count, shown = len(known), contents(known.source)
    order = Order(
        [1] * count, room=min(recipe.batch_size, count), seed=recipe.seed, data=known.checksum, contents=shown
    )
    return Batches(order, collate)


def _collate(
    recipe: "Recipe", begin: Begin, rows: Rows, pictures: "list[int]", which: "list[int]", chance: "Chance | None"
) -> Pairs:
    import numpy as np
    import torch

    from regard.recipes.shown import vary

    seen, ids = np.array(rows.seen[pictures]), [rows.ids[i] for i in which]
    image = features = told = lengths = padded = None
    if "image" in begin.frozen:
        features = torch.from_numpy(seen).float()
    else:
        if chance is not None:
            turned, mirror = [rows.mirrored[i] for i in which], recipe.mirror and not begin.frozen
            seen = vary(seen, ids, turned, chance, mirror=mirror, move=recipe.move)
        image = begin.processor.numbers(seen)
    if rows.told is not None:
        told = torch.from_numpy(np.array(rows.told[which]))
    else:
        padded, lengths = pad(begin, ids)
    # By their very words, also in a mirror, and the same in every process.
    keys = torch.tensor([crc32(np.asarray(row, "<i4").tobytes()) for row in ids])
    return Pairs(image, features, padded, lengths, told, keys)


def seen_vectors(begin: Begin, model: Any, rows: Rows) -> "Tensor":
    """The vectors of all pictures."""
    import numpy as np
    import torch

    found = []
    for start in range(0, len(rows.seen), TOGETHER):
        part = np.array(rows.seen[start : start + TOGETHER])
        if "image" in begin.frozen:
            found.append(model.encode_seen(torch.from_numpy(part).float().to(model.log_scale.device)))
        else:
            found.append(model.encode_image(begin.processor.numbers(part).to(model.log_scale.device)))
    return torch.cat(found)


def told_vectors(begin: Begin, model: Any, rows: Rows) -> "Tensor":
    """The vectors of all captions."""
    import numpy as np
    import torch

    found = []
    for start in range(0, len(rows.ids), TOGETHER):
        some = slice(start, start + TOGETHER)
        if rows.told is None:
            found.append(text_vectors(begin, model, rows.ids[some]))
        else:
            found.append(model.encode_told(torch.from_numpy(np.array(rows.told[some])).to(model.log_scale.device)))
    return torch.cat(found)


def text_vectors(begin: Begin, model: Any, rows: "Sequence[Sequence[int]]") -> "Tensor":
    """The vectors of some texts."""
    ids, lengths = pad(begin, rows)
    device = model.log_scale.device
    found: Tensor = model.encode_text(ids.to(device), None if lengths is None else lengths.to(device))
    return found
