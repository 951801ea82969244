"""One door: whatever a model lies in, `regard.load` opens it as the pipeline of its task."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.decode import Int8Linear
from regard.hub import CheckpointError, save
from regard.models import Family, intra, memnet, transformer
from regard.pipelines import Pipeline
from regard.pipelines.registry import _REGISTERED, pipeline, pipelines
from regard.text import Tokenizer
from regard.world.recall import recalls

LINES = ["A dog runs through the snow.", "Two children play in the park.", "A man reads."]
LANGUAGES = {"source": ["de"], "target": ["en"]}


def tokenizer(**options: Any) -> Tokenizer:
    return Tokenizer.train(LINES, vocab=300, **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    one = tokenizer()
    model = transformer.Transformer(transformer.Config(one.vocab, 16, 2, 2, 16))
    card = {"task": "translate", "languages": LANGUAGES}
    save(tmp_path / "run/model", model, family=transformer.FAMILY, card=card, tokenizer=one)
    return tmp_path / "run/model"


def test_a_model_is_opened_by_its_folder_its_run_and_its_name(folder: Path) -> None:
    for what in (folder, str(folder), folder.parent):
        found = regard.load(what)
        assert (found.task, found.name) == ("translate", "run")
    assert regard.load("de-en").task == "translate"


def test_a_dtype_changes_what_is_computed_with(folder: Path) -> None:
    assert any(isinstance(module, Int8Linear) for module in regard.load(folder, dtype="int8").model.modules())
    assert next(regard.load(folder, dtype="bfloat16").model.parameters()).dtype == torch.bfloat16
    assert regard.load(folder, device="cpu").device == torch.device("cpu")
    moved = regard.load(folder)
    assert moved.to("meta") is moved
    assert moved.device == torch.device("meta")


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_is_not_there_is_one_sentence_with_a_way_out(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no model is called 'de-em'; try de-en"):
        regard.load("de-em")
    with pytest.raises(ValueError, match="no task is called 'tranlate'; try translate"):
        regard.load(folder, task="tranlate")
    with pytest.raises(TypeError, match="takes no 'torch_dtype'; here it is dtype"):
        regard.load(folder, torch_dtype="float16")  # type: ignore[call-arg]
    for card in ("{}", '{"task": ""}'):  # the second is of a part that others are made of
        (folder / "card.json").write_text(card)
        with pytest.raises(ValueError, match="names no task; say which, as by task='translate'"):
            regard.load(folder)
    assert regard.load(folder, task="translate").task == "translate"
    with pytest.raises(AttributeError, match=r"regard has no 'from_pretrained'; write regard\.load\(name\)"):
        _ = regard.from_pretrained


def test_a_model_of_the_hub_without_a_table_is_opened_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import ElectraConfig, ElectraModel

    sizes = dict(embedding_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8)
    ElectraModel(ElectraConfig(vocab_size=9, **sizes)).save_pretrained(tmp_path / "0123")
    monkeypatch.setattr("regard.hub.remote.fetch", lambda what, *, pickle: tmp_path / "0123")
    assert regard.load("hub:owner/electra").name == "owner/electra"
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(CheckpointError, match=r"in a clone of regard, pip install '\.\[hf\]'"):
        regard.load("hub:owner/electra")


@pytest.mark.usefixtures("as_users_meet_it")
def test_what_is_no_model_and_no_reading_is_told_what_can_be_given(folder: Path) -> None:
    for what in (None, 3):
        with pytest.raises(TypeError, match=f"{what} is no model; give a name that `regard list zoo` shows, a folder"):
            regard.load(what)
    for shown in ("de-en", 3):
        with pytest.raises(TypeError, match="is no Reading, Trace or model; give what regard"):
            regard.show(shown)
    assert next(regard.load(folder, dtype=torch.bfloat16).model.parameters()).dtype == torch.bfloat16
    with pytest.raises(ValueError, match="dtype is 'float16'; choose float32, bfloat16, int8"):
        regard.load(folder, dtype=torch.float16)


@pytest.mark.usefixtures("as_users_meet_it")
def test_keywords_of_other_libraries_lead_somewhere(folder: Path) -> None:
    short: Any = regard.load(folder, limit=4)
    with pytest.raises(ValueError, match="at most 4 are read"):
        short([LINES[0] * 3])
    calls: list[Any] = [regard.load, short, short.attend, short.evaluate]
    for call in calls:
        with pytest.raises(TypeError, match=r"takes no 'max_length'; how much is read is said by regard\.load"):
            call(folder, max_length=3)
    with pytest.raises(TypeError, match="takes no 'num_beams'; here it is beam"):
        short.attend(LINES[2], num_beams=2)
    with pytest.raises(TypeError, match="takes no 'max_new_tokens'; how much is written at most follows from"):
        short(LINES, max_new_tokens=2)
    with pytest.raises(AttributeError, match=r"'Translate' object has no attribute 'generate'; call it: pipeline\("):
        short.generate(LINES)
    with pytest.raises(AttributeError, match=r"no attribute 'cuda'; write pipeline\.to\('cuda'\)"):
        short.cuda()
    one = Tokenizer.train(LINES, kind="words", vocab=40, lower=True)
    network = intra.LSTMN(intra.Config(vocab=one.vocab, width=8, hidden=8, depth=1, classes=2))
    classify: Any = pipeline("classify").of(network, one, card={"labels": ["bad", "good"]})
    with pytest.raises(
        AttributeError, match=r"no attribute 'encode'; write regard\.load\(name, task='embed'\)\.vectors"
    ):
        classify.encode(LINES)
    assert not hasattr(short, "anything")


def test_importing_regard_imports_no_torch_and_offers_every_floor() -> None:
    code = (
        "import sys, regard\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
        "assert {'load', 'build', 'record', 'show', 'register', 'attention', 'models'} <= set(dir(regard))\n"
        "regard.attention.multihead; regard.load; regard.load; assert callable(regard.load)\n"
        "from regard.models import Transformer\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_model_in_memory_of_anybody_can_be_looked_into() -> None:
    class Theirs(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.attn = torch.nn.Embedding(300, 16), torch.nn.MultiheadAttention(16, 2, batch_first=True)

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            x = self.embed(input_ids)
            y: torch.Tensor = self.attn(x, x, x)[0]
            return y

    theirs = Theirs()
    found: Any = regard.load(theirs, tokenizer=tokenizer())
    reading = found.attend("A dog runs.")
    (one,) = reading.maps
    assert (one.name, one.heads) == ("attn", 2)
    assert reading.axes[one.rows].pieces[0] == "A"
    np.testing.assert_allclose(reading.weights("attn").sum(-1), 1.0, rtol=1e-5)
    assert "head 1" in regard.show(reading).html()
    with pytest.raises(ValueError, match="load it as a task"):
        found.evaluate("world")


def test_a_hugging_face_folder_without_a_table_is_opened_by_transformers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers import ElectraConfig, ElectraModel
    from transformers.utils import logging

    torch.manual_seed(0)
    sizes = dict(embedding_size=32, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
    theirs = ElectraModel(ElectraConfig(vocab_size=99, **sizes)).eval()
    theirs.save_pretrained(tmp_path / "electra")
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    capsys.readouterr()
    found: Any = regard.load(tmp_path / "electra")
    assert capsys.readouterr() == ("", "")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
    ids = torch.tensor([[2, 5, 6, 7, 3]])
    reading = found.attend({"input_ids": ids})
    assert len(reading.maps) == 2
    assert all(each.heads == 4 for each in reading.maps)
    torch.testing.assert_close(reading.output.last_hidden_state, theirs(ids).last_hidden_state)


def marian() -> Any:
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(0)
    settings: dict[str, Any] = dict(vocab_size=64, d_model=16, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)
    layers: dict[str, Any] = {f"{side}_{key}": value for side in ("encoder", "decoder")
                              for key, value in (("layers", 2), ("attention_heads", 2), ("ffn_dim", 32))}  # fmt: skip
    return MarianMTModel(MarianConfig(**settings, **layers, scale_embedding=True, forced_eos_token_id=None)).eval()


def test_what_a_table_refuses_is_not_opened_by_transformers(tmp_path: Path) -> None:
    theirs = marian()
    with torch.no_grad():
        theirs.model.encoder.layers[0].fc1.weight[0, 0] = float("nan")
    theirs.save_pretrained(tmp_path / "opus")
    with pytest.raises(CheckpointError, match="NaN or infinite"):
        regard.load(tmp_path / "opus")
    (tmp_path / "opus/config.json").write_bytes(b'{"model_type": "\xff"}')
    with pytest.raises(CheckpointError, match="is no sound JSON"):
        regard.load(tmp_path / "opus")


def test_each_side_of_an_encoder_decoder_keeps_its_tokens() -> None:
    class Letters:
        def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
            return [chr(97 + each) for each in ids]

    found: Any = regard.load(marian(), tokenizer=Letters())
    ids = {"input_ids": torch.tensor([[5, 6, 7, 1]]), "decoder_input_ids": torch.tensor([[0, 9, 8, 4]])}
    reading = found.attend(ids)
    kinds = {each.name.removeprefix("model."): (each.kind, each.rows, each.columns) for each in reading.maps}
    assert kinds["encoder.layers.0.self_attn"] == ("self", "source", "source")
    assert kinds["decoder.layers.0.self_attn"] == ("causal", "target", "target")
    assert kinds["decoder.layers.0.encoder_attn"] == ("cross", "target", "source")
    assert {name: axis.pieces for name, axis in reading.axes.items()} == {"source": (*"fghb",), "target": (*"ajie",)}
    (one,) = found(ids)
    torch.testing.assert_close(one.logits, reading.output.logits)


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_foreign_model_is_told_its_arguments_by_name() -> None:
    found: Any = regard.load(torch.nn.Identity())
    with pytest.raises(ValueError, match="a Tensor is no input of Identity; give a text, or the arguments of its"):
        found.attend(torch.ones(1, 3))


def test_a_hugging_face_folder_with_a_table_becomes_our_own_model(tmp_path: Path) -> None:
    theirs = marian()
    theirs.save_pretrained(tmp_path / "opus")
    from regard.hub import load

    ours = load(tmp_path / "opus").model
    source, target = torch.tensor([[5, 6, 7, 1]]), torch.tensor([[0, 9, 8]])
    with torch.no_grad():
        wanted = theirs(input_ids=source, decoder_input_ids=target).logits
        torch.testing.assert_close(ours(source, target), wanted, atol=1e-5, rtol=1e-4)


def test_a_classifier_names_the_likeliest_label_and_shows_what_each_word_reads() -> None:
    one = Tokenizer.train(LINES, kind="words", vocab=40, lower=True)
    model = intra.LSTMN(intra.Config(vocab=one.vocab, width=8, hidden=8, depth=1, classes=2)).eval()
    classify = pipeline("classify").of(model, one, card={"labels": ["bad", "good"]})
    found = classify(LINES)
    for each in found:
        assert each.scores[each.label] == max(each.scores.values())
        assert sum(each.scores.values()) == pytest.approx(1.0, abs=1e-5)
    (alone,) = classify([LINES[2]])
    assert alone.scores["good"] == pytest.approx(found[2].scores["good"], abs=1e-5)
    reading = classify.attend(LINES[0])
    assert reading.output.label == found[0].label
    weights = reading.weights("readers.0.attn")
    np.testing.assert_allclose(weights[0].sum(-1)[1:], 1.0, rtol=1e-5)
    assert weights[0, 0].sum() == 0  # the first word has no past
    with pytest.raises(ValueError, match="names 3 labels, and the model has 2"):
        pipeline("classify").of(model, one, card={"labels": ["a", "b", "c"]})


def test_a_recall_is_scored_by_distance() -> None:
    model = memnet.MemoryNetwork(memnet.Config(vocab=40, width=8, hops=1, times="fixed")).eval()
    recall: Any = pipeline("recall").of(model, card={"pairs": 2, "words": 4, "distance": 4})
    items = [recalls(distance=3, pairs=2, keys=4, values=4, noise=4)[i].ids for i in range(5)]
    assert recall(items) == [recall([item])[0] for item in items]
    scores = recall.evaluate("world", limit=6).scores
    assert list(scores) == ["accuracy", *(f"accuracy/at {distance}" for distance in (1, 2, 4, 8))]
    assert recall.attend(items[0]).output == recall(items)[0]


def test_a_recall_shows_the_ids_that_were_read() -> None:
    model = transformer.Transformer(transformer.Config(40, 16, 2, 2, 16)).eval()
    recall: Any = pipeline("recall").of(model, card={"pairs": 1, "words": 4, "distance": 4})
    reading = recall.attend([9, 12, 15, 9])
    (cross, *_) = [each for each in reading.maps if each.kind == "cross"]
    assert reading.axes[cross.rows].pieces == ("9",)
    assert reading.axes[cross.columns].pieces == ("9", "12", "15")


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_recall_refuses_what_it_cannot_read() -> None:
    model = memnet.MemoryNetwork(memnet.Config(vocab=40, width=8, hops=1, times="fixed")).eval()
    with pytest.raises(ValueError, match="the card of model does not say words, distance as whole numbers"):
        pipeline("recall").of(model, card={"pairs": 2})
    recall: Any = pipeline("recall").of(model, card={"pairs": 2, "words": 4, "distance": 4})
    for given, why in (
        ("hello", r"'hello' is no list of ids; write \[3, 1, 4\]"),
        (3, "3 is no list of ids"),
        ([1, 2, 3, 4, 40], "does not know the id 40; its ids go from 0 to 39"),
        ([1, 2], "2 pairs and a question are 5 ids at least"),
    ):
        with pytest.raises(ValueError, match=why):
            recall([given])
        with pytest.raises(ValueError, match=why):
            recall.attend(given)


@pytest.mark.usefixtures("as_users_meet_it")
def test_tasks_are_the_files_of_the_folder_and_what_is_registered() -> None:
    assert {"translate", "parse", "classify", "recall"} <= set(pipelines())

    class Nothing(Pipeline):
        task, takes, gives = "nothing", "", ""
        __call__ = evaluate = attend = None  # type: ignore[assignment]

    try:
        regard.register(Nothing)
        assert pipeline("nothing") is Nothing

        class Other(Nothing):
            task = "translate"

        with pytest.raises(ValueError, match="a task is called 'translate' already"):
            regard.register(Other)
        again = type("Translate", (Nothing,), {"task": "translate"})  # the name of ours, from another module
        with pytest.raises(ValueError, match="a task is called 'translate' already"):
            regard.register(again)
        with pytest.raises(TypeError, match="a int cannot be registered"):
            regard.register(3)  # type: ignore[type-var]
    finally:
        _REGISTERED.pop("nothing", None)
    assert isinstance(transformer.FAMILY, Family)
