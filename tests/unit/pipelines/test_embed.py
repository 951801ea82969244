"""Embedding: a text is the vector that its folder says, whoever is read beside it."""

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tests.unit.pipelines.encoders import bert, tokenizer_of

import regard
from regard.hub import CheckpointError, export
from regard.pipelines.embed import POOLINGS, Embed
from regard.pipelines.pipeline import TooLongError

TEXTS = ["the dog", "who runs in the park and who sleeps ?", "karel", "the cat sleeps ."]


def folder_of(
    place: Path, *, inner: str = "", pooling: object = "mean", parts: tuple[str, ...] = ("Normalize",)
) -> Path:
    """A folder as sentence-transformers writes it, of a small BERT."""
    tokenizer = tokenizer_of(place.parent / "tokenizer")
    export(place / inner if inner else place, bert("none"), tokenizer)
    said = {"pooling_mode": pooling} if not isinstance(pooling, dict) else pooling
    (place / "1_Pooling").mkdir()
    (place / "1_Pooling/config.json").write_text(json.dumps({"embedding_dimension": 16, **said}))
    names = ["Transformer", "Pooling", *parts]
    places = [inner, *(f"{i}_{name}" for i, name in enumerate(names) if i)]
    rows = [{"type": f"sentence_transformers.models.{a}", "path": b} for a, b in zip(names, places, strict=True)]
    (place / "modules.json").write_text(json.dumps(rows))
    return place


def states(text: str, place: Path) -> torch.Tensor:
    tokenizer = tokenizer_of(place.parent / "tokenizer")
    with torch.no_grad():
        found: torch.Tensor = bert("none").read(torch.tensor(tokenizer.encode([text])))[0]
    return found


def test_a_folder_says_how_its_vectors_are_made(tmp_path: Path) -> None:
    place = folder_of(tmp_path / "plain")
    embed = regard.load(place)
    assert isinstance(embed, Embed)
    found = embed.vectors(TEXTS)
    for row, text in zip(found, TEXTS, strict=True):
        torch.testing.assert_close(row, F.normalize(states(text, place).mean(dim=0), dim=0), atol=1e-6, rtol=1e-5)
    assert embed(TEXTS[:1])[0].vector == pytest.approx(found[0].tolist(), abs=1e-6)


@pytest.mark.parametrize("mode", POOLINGS)
def test_every_pooling_is_that_of_sentence_transformers(mode: str, tmp_path: Path) -> None:
    pooling = pytest.importorskip("sentence_transformers.sentence_transformer.modules.pooling").Pooling
    place = folder_of(tmp_path / "folder", pooling=mode, parts=())
    embed = regard.load(place)
    assert isinstance(embed, Embed)
    for row, text in zip(embed.vectors(TEXTS), TEXTS, strict=True):
        tokens = states(text, place)[None]
        features = {"token_embeddings": tokens, "attention_mask": torch.ones(tokens.shape[:2], dtype=torch.long)}
        theirs = pooling(16, pooling_mode=mode)(features)["sentence_embedding"][0]
        torch.testing.assert_close(row, theirs, atol=1e-5, rtol=1e-5)


def test_older_folders_keep_the_transformer_apart_and_name_poolings_otherwise(tmp_path: Path) -> None:
    old = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False}
    place = folder_of(tmp_path / "mine", inner="0_Transformer", pooling=old, parts=())
    embed = regard.load(place)
    assert isinstance(embed, Embed)
    assert (embed.name, embed.pooling) == ("mine", ["cls", "mean"])
    tokens = states(TEXTS[0], place)
    expected = torch.cat((tokens[0], tokens.mean(dim=0)))
    torch.testing.assert_close(embed.vectors(TEXTS[:1])[0], expected, atol=1e-6, rtol=1e-5)


def test_a_dense_layer_stands_where_the_folder_puts_it(tmp_path: Path) -> None:
    place = folder_of(tmp_path / "folder", parts=("Dense", "Normalize"))
    weight, bias = torch.randn(5, 16), torch.randn(5)
    (place / "2_Dense").mkdir()
    about = {
        "in_features": 16,
        "out_features": 5,
        "bias": True,
        "activation_function": "torch.nn.modules.activation.Tanh",
    }
    (place / "2_Dense/config.json").write_text(json.dumps(about))
    save_file({"linear.weight": weight, "linear.bias": bias}, place / "2_Dense/model.safetensors")
    embed = regard.load(place)
    assert isinstance(embed, Embed)
    expected = F.normalize((states(TEXTS[1], place).mean(dim=0) @ weight.T + bias).tanh(), dim=0)
    torch.testing.assert_close(embed.vectors(TEXTS[1:2])[0], expected, atol=1e-5, rtol=1e-5)
    (place / "2_Dense/config.json").write_text(json.dumps(about | {"out_features": 6}))
    with pytest.raises(CheckpointError, match="does not fit its config"):
        regard.load(place)


def test_prompts_are_read_in_front_of_a_text(tmp_path: Path) -> None:
    place = folder_of(tmp_path / "folder")
    about = {"prompts": {"query": "who ", "passage": "the "}, "default_prompt_name": "passage"}
    (place / "config_sentence_transformers.json").write_text(json.dumps(about))
    (place / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 6, "do_lower_case": False}))
    embed = regard.load(place)
    assert isinstance(embed, Embed)
    (asked,) = embed.vectors(["dog runs"], prompt="query")
    torch.testing.assert_close(
        asked, F.normalize(states("who dog runs", place).mean(dim=0), dim=0), atol=1e-6, rtol=1e-5
    )
    assert not torch.allclose(asked, embed.vectors(["dog runs"])[0])
    with pytest.raises(ValueError, match="has no prompt 'title'; it has query, passage"):
        embed(["dog"], prompt="title")
    with pytest.raises(TooLongError, match="at most 6 are read"):
        embed(["dog runs and sleeps"])
    assert embed.vectors(["dog runs and sleeps"], cut=True).shape == (1, 16)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("1_Pooling/config.json", '{"pooling_mode": "attention"}', "pools by 'attention'; known are cls, max, mean"),
        ("1_Pooling/config.json", '{"pooling_mode_of_mine": true}', "pools by 'pooling_mode_of_mine'"),
        ("1_Pooling/config.json", '{"include_prompt": false}', "leaves the prompt out of the pooling"),
        ("modules.json", '[{"type": "a.Transformer", "path": ""}, {"type": "a.LSTM", "path": "x"}]', "a part 'LSTM'"),
        ("modules.json", '[{"type": "a.StaticEmbedding", "path": ""}]', "begins with 'StaticEmbedding'"),
        (
            "modules.json",
            '[{"type": "a.Transformer", "path": ""}, {"type": "a.Dense", "path": "../x"}]',
            "not lie beside",
        ),
        ("modules.json", '{"a": 1}', "is no list of parts"),
        ("modules.json", "[", "is no sound JSON"),
        ("config_sentence_transformers.json", '{"similarity_fn_name": "manhattan"}', "compares vectors by 'manhattan'"),
        ("config_sentence_transformers.json", '{"default_prompt_name": "q"}', "names the prompt 'q'"),
    ],
)
def test_what_is_not_computed_is_refused_by_its_name(tmp_path: Path, name: str, content: str, said: str) -> None:
    place = folder_of(tmp_path / "folder")
    (place / name).write_text(content)
    with pytest.raises(CheckpointError, match=said):
        regard.load(place)


def test_who_is_read_together_changes_no_vector(tmp_path: Path) -> None:
    embed = Embed.of(bert("none"), tokenizer_of(tmp_path))
    together = embed.vectors(TEXTS)
    for row, text in zip(together, TEXTS, strict=True):
        torch.testing.assert_close(row, embed.vectors([text])[0], atol=1e-6, rtol=1e-5)
    assert torch.equal(embed.vectors(TEXTS[::-1]).flip(0), together)


def test_pairs_are_ranked_against_people(tmp_path: Path) -> None:
    embed = Embed.of(bert("none"), tokenizer_of(tmp_path))
    pairs = [("the dog", "the cat"), ("the dog", "the dog"), ("karel", "who runs in the park ?"), ("the", "and")]
    vectors = {text: embed.vectors([text])[0] for pair in pairs for text in pair}
    cosines = [float(vectors[a] @ vectors[b]) for a, b in pairs]
    (tmp_path / "data").mkdir()
    rows = "".join(f"{a}\t{b}\t{cosine}\n" for (a, b), cosine in zip(pairs, cosines, strict=True))
    (tmp_path / "data/test.tsv").write_text(f"sentence1\tsentence2\tscore\n{rows}")
    found = embed.evaluate(str(tmp_path / "data"))
    assert found.scores["spearman"].value == pytest.approx(100)
    assert found.scores["pearson"].value == pytest.approx(100, abs=1e-3)
    (tmp_path / "data/test.tsv").write_text("sentence1\tsentence2\tlabel\na\tb\tyes\n")
    with pytest.raises(ValueError, match="has labels that are no numbers"):
        embed.evaluate(str(tmp_path / "data"))


def test_a_text_is_looked_into(tmp_path: Path) -> None:
    embed = Embed.of(bert("none"), tokenizer_of(tmp_path))
    reading = embed.attend("the dogs")
    assert reading.axes["words"].labels == ("[CLS]", "the", "dogs", "[SEP]")
    assert reading.weights(reading.maps[0].name).shape == (2, 5, 5)
    assert reading.weights(reading.maps[0].name, words=True).shape == (2, 4, 4)
