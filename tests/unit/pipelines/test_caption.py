"""Captions of pictures: written, scored and looked into, by fresh models whose words are random but must fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import regard
from regard.analysis.seeing.words import looks_of_words, word_sheets
from regard.analysis.view import Grid
from regard.data.captions import captioned
from regard.data.pictures import detections
from regard.hub import Checkpoint, save
from regard.models import build
from regard.models.family import family
from regard.pipelines.caption import Caption
from regard.text import Tokenizer, Words
from regard.vision import Processor, Size

PICTURE = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8))
TOKENIZER = Tokenizer.train([text for (text,) in captioned("world/1-4", limit=200).captions], vocab=500)
PROCESSOR = Processor(size=Size(height=32, width=32))


def captioner(way: str = "soft", **changes: Any) -> Caption:
    torch.manual_seed(0)
    model = build("caption-nano", way=way, vocab=TOKENIZER.vocab, **changes).eval()
    return Caption(Checkpoint(model, family("caption"), TOKENIZER, {}, Path(), "mine", PROCESSOR), limit=12)


def test_a_picture_is_captioned_wherever_it_comes_from(tmp_path: Path) -> None:
    PICTURE.save(tmp_path / "photo.png")
    one = captioner()
    found = one([tmp_path / "photo.png", PICTURE, np.asarray(PICTURE)], beam=2, count=2)
    assert len({each.text for each in found}) == 1
    assert found[0].hypothesis.score >= found[0].alternatives[0].hypothesis.score
    assert one(PICTURE, beam=1)[0].text == one.write(one.tensors([PICTURE]), beam=1)[0].text
    assert np.array_equal(np.asarray(one.open("world:3")), np.asarray(detections("world", "test").picture(3)))
    with pytest.raises(ValueError, match="a beam of 2 cannot give 3 captions; ask for 1 to 2"):
        one(PICTURE, beam=2, count=3)


@pytest.mark.parametrize("way", ["fixed", "soft", "hard", "transformer"])
def test_a_folder_keeps_all_that_a_captioner_is(way: str, tmp_path: Path) -> None:
    one = captioner(way)
    save(
        tmp_path / "model",
        one.model,
        family=family("caption"),
        tokenizer=TOKENIZER,
        processor=PROCESSOR,
        card={"task": "caption", "title": way},
    )
    again = regard.load(tmp_path / "model")
    assert isinstance(again, Caption)
    assert again(PICTURE)[0].text == Caption(one.checkpoint)(PICTURE)[0].text


@pytest.mark.parametrize("way", ["soft", "transformer"])
def test_a_reading_has_a_map_of_the_picture_for_each_word(way: str) -> None:
    one = captioner(way, encoder=1)
    reading = one.attend(PICTURE, target="There is a red disc.")
    (name,) = looks_of_words(reading)
    assert name in one.model.cross_attentions
    words, grid = reading.axes["target"], reading.axes["picture"]
    assert isinstance(words, Words)
    assert isinstance(grid, Grid)
    assert (grid.height, grid.width) == one.model.grid(32, 32)
    assert reading.weights(name).shape == (reading.find(name).heads, len(words), len(grid))
    np.testing.assert_allclose(reading.weights(name).sum(-1), 1, atol=1e-5)
    sheets = word_sheets(reading)
    assert [sheet.name for sheet in sheets] == ["", "There", "is", "a", "red", "disc", "."]
    assert all(sheet.numbers.max() == pytest.approx(1) for sheet in sheets)
    assert {each.kind for each in reading.maps} >= {"cross", "self"}
    assert all(reading.weights(each.name).ndim == 3 for each in reading.maps)
    own = one.attend(PICTURE)
    assert own.caption == one(PICTURE)[0].text
    with pytest.raises(ValueError, match=r"no look of words at a picture is called 'decoder'; try"):
        word_sheets(reading, "decoder")
    with pytest.raises(ValueError, match="an empty target leaves nothing to write"):
        one.attend(PICTURE, target=" ")


def test_a_model_with_one_vector_of_the_picture_has_no_maps_of_words() -> None:
    one = captioner("fixed", encoder=0)
    with pytest.raises(ValueError, match="mine looks at no picture while it writes, as a model that gets one vector"):
        word_sheets(one.attend(PICTURE, target="There is a red disc."))


def test_an_edit_of_a_look_changes_what_is_said() -> None:
    one = captioner("soft")

    def first_cell(look: Any) -> torch.Tensor:
        weights = torch.zeros(*look.q.shape[:3], look.k.shape[-2])
        weights[..., 0] = 1.0
        return weights

    plain = one.attend(PICTURE, target="There is a red disc.")
    edited = one.attend(PICTURE, target="There is a red disc.", edits={"decoder.attn": first_cell})
    assert edited.output.hypothesis.log_prob != plain.output.hypothesis.log_prob
    assert np.array_equal(edited.weights("decoder.attn")[0, :, 0], np.ones(len(edited.axes["target"])))


def test_the_world_scores_sentences_attributes_and_looks() -> None:
    found = captioner("soft").evaluate("world", limit=8, beam=1)
    assert found.count == 8
    assert {"exact", "attributes", "pointing", "bleu4", "cider", "meteor"} <= set(found.scores)
    assert {"attributes/fill", "pointing/decoder.attn", "pointing/chance"} <= set(found.scores)
    assert 0 < found.scores["pointing/chance"].value < 50
    assert "pointing" not in captioner("fixed").evaluate("world", limit=4, beam=1).scores


def test_looks_that_know_the_truth_point_at_it() -> None:
    one, known = captioner("soft"), captioned("world", "test", limit=6)
    assert known.truth is not None
    truths = [known.truth(i) for i in range(6)]
    rows, columns = one.model.grid(32, 32)
    place = {"row": 0}

    # A look that always falls on the first thing of each picture.
    def on_the_first(look: Any) -> torch.Tensor:
        weights = torch.zeros(*look.q.shape[:3], look.k.shape[-2])
        for i, truth in enumerate(truths):
            y, x = np.argwhere(truth.picture.visible[truth.things[2]])[0]
            weights[i, 0, :, int(y) * rows // 64 * columns + int(x) * columns // 64] = 1.0
        place["row"] += 1
        return weights

    from regard.attention import record

    with record(one.model, edits={"decoder.attn": on_the_first}):
        found = one.pointing(truths)
    assert place["row"]
    assert found["pointing"].value > 50


def test_what_says_nothing_of_pictures_is_refused() -> None:
    with pytest.raises(ValueError, match="mine is a ViT, which says nothing of pictures"):
        Caption(Checkpoint(build("vit-nano"), None, TOKENIZER, {}, Path(), "mine"))
    with pytest.raises(ValueError, match="entries is that of another model, since this one has 48"):
        Caption(Checkpoint(build("caption-nano"), None, TOKENIZER, {}, Path(), "mine"))
