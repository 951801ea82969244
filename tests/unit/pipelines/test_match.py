"""A picture and texts in, how well they go together out: on a fresh model whose answers are random but must fit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tokenizers import Tokenizer as Inner
from tokenizers import models, normalizers, pre_tokenizers, processors

import regard
from regard.analysis.view import Grid
from regard.hub import export, save
from regard.models import build
from regard.models.clip import FAMILY, PRESETS
from regard.pipelines import TooLongError
from regard.pipelines.match import Matching, has_captions
from regard.text import Tokenizer
from regard.text.words import Words
from regard.vision import Processor

PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8))
TEXTS = ["a red disc", "a blue star", "two dogs"]
TOKENIZER = Tokenizer.train(["there is a red disc and a blue star", "two dogs in snow"], kind="words", vocab=48)


def matcher(**changes: Any) -> Matching:
    torch.manual_seed(0)
    return Matching.of(build("clip-nano", **changes).eval(), TOKENIZER, name="mine")


def test_a_picture_chooses_among_texts_or_judges_each_alone() -> None:
    among, alone = matcher(bias=False), matcher()
    for one in (among, alone):
        (found,) = one([(PICTURE, TEXTS)])
        assert list(found.scores) == TEXTS
        assert found.text == max(found.scores, key=lambda text: found.scores[text])
        assert all(-1 <= cosine <= 1 for cosine in found.cosines.values())
        assert (sum(found.scores.values()) == pytest.approx(1)) == (one is among)


def test_vectors_do_not_depend_on_company() -> None:
    one = matcher()
    together = one.texts(TEXTS)
    torch.testing.assert_close(together[1:2], one.texts(TEXTS[1:2]), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(one.images([PICTURE, PICTURE])[1:], one.images(PICTURE), atol=1e-5, rtol=1e-4)


def test_what_cannot_be_read_is_refused_and_what_is_long_may_be_cut() -> None:
    one, long = matcher(), "red " * 20
    with pytest.raises(TooLongError, match="text 1 has 22 tokens, and at most 12 are read"):
        one([(PICTURE, ["red", long])])
    assert one([(PICTURE, ["red", long])], cut=True)[0].scores[long] > 0
    nothing: list[list[Any]] = [[], [(PICTURE, [])]]
    for inputs in nothing:
        with pytest.raises(ValueError, match="there is nothing to compare; give each picture one text or more"):
            one(inputs)
    with pytest.raises(ValueError, match="text 0 is empty, which goes with everything; give a word"):
        one.texts(["  "])
    with pytest.raises(ValueError, match="mine has no tokenizer"):
        Matching.of(build("clip-nano"), name="mine").texts(["a dog"])


def test_both_towers_are_looked_into() -> None:
    found = matcher().attend((PICTURE, TEXTS))
    assert found.output.text in TEXTS
    groups = {each.name.partition(".")[0]: each for each in found.maps}
    seen, read = groups["image"], groups["text"]
    assert isinstance(found.axes[seen.rows], Grid)
    assert isinstance(found.axes[read.rows], Words)
    assert read.kind == "causal"
    for each in found.maps:
        weights = found.weights(each.name)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
        assert weights.shape[1:] == (len(found.axes[each.rows]), len(found.axes[each.columns]))


def test_where_the_mean_of_a_map_looks_is_seen_on_the_picture() -> None:
    found = matcher(pool="attention").attend((PICTURE, TEXTS))
    pool = found.maps[[each.name for each in found.maps].index("pool.attn")]
    places = found.axes[pool.columns]
    assert isinstance(places, Grid)
    assert places.image is not None
    assert places.leading == ("mean",)
    assert found.weights("pool.attn").shape[1:] == (1, len(places))


def test_names_of_classes_are_put_into_sentences() -> None:
    found = matcher().classify([PICTURE, PICTURE], ["red disc", "blue star"], templates=["there is {a}"])
    assert len(found) == 2
    assert set(found[0].scores) == {"red disc", "blue star"}


def test_the_world_is_named_without_training_also_where_it_is_strange() -> None:
    one = matcher()
    for data in ("world", "world/novel", "world/sketch"):
        found = one.evaluate(data, limit=8)
        assert found.count == 8
        assert 0 <= found.scores["accuracy"].value <= 100
        assert found.confusion is not None
    with pytest.raises(ValueError, match="the world has no pictures called 'odd'; choose big, novel, sketch"):
        one.evaluate("world/odd")


def test_pictures_and_captions_find_each_other() -> None:
    found = matcher(text=replace(PRESETS["clip-nano"].text, context=40)).evaluate("world/1-2", limit=12)
    assert set(found.scores) == {f"{way} R@{k}" for way in ("image to text", "text to image") for k in (1, 5, 10)}
    assert found.settings["texts"] == 12


def test_data_say_by_themselves_whether_they_have_captions(tmp_path: Path) -> None:
    assert has_captions("flickr8k")
    assert has_captions("world/3-4")
    assert not any(map(has_captions, ("world", "world/novel", "cifar10", str(tmp_path))))
    (tmp_path / "captions.tsv").write_text("a.png\ta dog\n")
    assert has_captions(str(tmp_path))


def clip_tokenizer(folder: Path) -> None:
    """A tokenizer.json as CLIP's: byte pairs with </w> at the end of a word, small letters, marks around a text."""
    ids = {"a</w>": 0, "dog</w>": 1, "d": 2, "o": 3, "g</w>": 4, "do": 5, "<|startoftext|>": 6, "<|endoftext|>": 7}
    inner = Inner(
        models.BPE(
            ids | {"a": 8, "g": 9},
            [("d", "o"), ("do", "g</w>")],
            end_of_word_suffix="</w>",
            unk_token="<|endoftext|>",
        )
    )
    inner.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(
        single="<|startoftext|> $A <|endoftext|>", special_tokens=[("<|startoftext|>", 6), ("<|endoftext|>", 7)]
    )
    inner.add_special_tokens(["<|startoftext|>", "<|endoftext|>"])
    inner.save(str(folder / "tokenizer.json"))


def test_a_folder_of_hugging_face_brings_tokenizer_and_processor(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = PRESETS["clip-nano"]
    model = build("clip-nano", bias=False, image=replace(config.image, first_norm=True)).eval()
    processor = Processor.from_json(
        {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 16}, "crop_size": 16}
    )
    export(tmp_path, model, processor=processor)
    clip_tokenizer(tmp_path)
    found = regard.load(tmp_path)
    assert isinstance(found, Matching)
    assert found.rows(["A Dog"]) == [[6, 0, 1, 7]]
    assert found.processor.crop_size == (16, 16)
    assert found([(PICTURE, ["a dog", "a"])])[0].scores.keys() == {"a dog", "a"}


def test_texts_for_siglip_are_plain_and_fill_the_context(tmp_path: Path) -> None:
    text = replace(PRESETS["clip-nano"].text, causal=False, filled=True)
    model = build("clip-nano", text=text).eval()
    card = {"task": "match", "plain": True}
    save(tmp_path, model, family=FAMILY, card=card, tokenizer=TOKENIZER)
    found = regard.load(tmp_path)
    assert isinstance(found, Matching)
    assert found.rows(["Two  DOGS!"]) == found.rows(["two dogs"])
    ids, lengths = found.padded(found.rows(["two dogs"]))
    assert ids.shape == (1, 12)
    assert lengths is None
    assert found([(PICTURE, TEXTS)])[0].text in TEXTS


def test_a_linear_probe_reads_classes_from_what_the_picture_tower_gives(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    for label, bright in (("dark", 40), ("light", 215)):
        for i in range(40):
            (tmp_path / ("train" if i < 30 else "test") / label).mkdir(parents=True, exist_ok=True)
            pixels = dice.integers(bright - 40, bright + 40, (16, 16, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / ("train" if i < 30 else "test") / label / f"{i}.png")
    one, shares = matcher(bias=False), list[float]()
    found = one.evaluate(str(tmp_path), probe=True, progress=shares.append)
    assert found.scores["probe accuracy"].value == 100
    assert (found.count, shares[-1]) == (20, 1)
    assert 50 < found.settings["of"] <= 60  # of what has no folder val, a part is held back
    some = one.evaluate(str(tmp_path), probe=True, limit=10)  # evenly spread, and not of the first class alone
    assert (some.count, some.settings["of"], some.scores["probe accuracy"].value) == (10, 10, 100)
    grouping = Matching.of(build("groupvit-nano").eval(), TOKENIZER, name="groups")
    assert grouping.evaluate(str(tmp_path), probe=True).scores["probe accuracy"].value > 90
