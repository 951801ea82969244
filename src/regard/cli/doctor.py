"""Examine a model: losses, masks, padding, cache, heads and numbers, and what usually causes each illness.

The model may be of any family, trained or fresh, or one of transformers. A preset that `regard list models` shows is
examined with fresh weights. The exit code is 1 if the model is ill. Nothing is changed: what has to learn is a copy.

    regard doctor gpt-nano                                a fresh model
    regard doctor de-en                                   a bundled one
    regard doctor runs/mine --text "To be or not to be"   is the loss on this text below ln V?
    regard doctor my-hugging-face-folder --json
"""

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

from regard.cli.errors import UsageError
from regard.cli.ink import BOLD, DIM, ink
from regard.cli.lines import refusal
from regard.cli.load import load_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from regard.analysis.doctor import Finding

GROUP = "Look inside"

MARKS = {"well": "✓", "ill": "✗", "counted": "·", "skipped": "–"}
RED, GREEN = "31", "32"
LARGEST = 2_000_000_000  # parameters of a preset, of which several copies are made


@dataclass(frozen=True, slots=True)
class Flags:
    model: Annotated[Positional[str], arg(metavar="MODEL")]
    """A preset, a name that `regard list zoo` shows, a folder (of regard or of Hugging Face), or hub:owner/name."""
    text: str = ""
    """A text that a trained model should be less surprised by than one that guesses."""
    steps: int = 60
    """Steps of the training that has to learn one batch by heart, at each of three learning rates."""
    seed: int = 0
    """Random seed of what the model is fed with."""
    json: bool = False
    """Print JSON instead of a table."""


def main(flags: Flags) -> None:
    """Make every check and print what was found."""
    if flags.steps < 1:
        raise UsageError(f"{flags.steps} steps teach nothing; give 1 or more")
    if broken := refusal(flags.text):
        raise UsageError(f"the text {broken.reason}")
    from regard.analysis.doctor import examine
    from regard.progress import bar

    name, model, family, tokenizer = _open(flags.model)
    try:
        with bar(f"{name} is examined") as progress:
            found = examine(
                model,
                family=family,
                text=_encode(tokenizer, flags.text, name),
                steps=flags.steps,
                seed=flags.seed,
                progress=progress,
            )
    except ValueError as error:
        raise UsageError(str(error)) from None
    ill = [each for each in found if each.verdict == "ill"]
    if flags.json:
        facts = {"model": name, "ill": len(ill), "findings": [asdict(each) for each in found]}
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        print("\n".join(_table(name, found)))
    if ill:
        raise SystemExit(1)


def _open(what: str) -> tuple[str, Any, Any, Any]:
    """A model, its family where it is one of ours, and its tokenizer where it has one."""
    import torch

    from regard.hub import CheckpointError, NoTableError
    from regard.hub import load as load_checkpoint
    from regard.models.family import families

    family = families().get(what.partition("-")[0])
    if family is not None and what in family.presets:
        with torch.device("meta"):
            size = sum(weight.numel() for weight in family.build(what).parameters())
        if size > LARGEST:
            raise UsageError(
                f"{what} has {size / 1e9:.0f} billion parameters; examine a smaller preset of {family.name}"
            )
        return what, family.build(what).eval(), family, None
    try:
        one = load_checkpoint(what)
    except NoTableError:
        pipeline = load_model(what)  # by transformers
        return pipeline.name, pipeline.model, None, pipeline.tokenizer
    except (FileNotFoundError, CheckpointError) as error:
        raise UsageError(str(error)) from None
    return one.name, one.model.eval(), one.family, one.tokenizer


def _encode(tokenizer: Any, text: str, name: str) -> Any:
    if not text.strip():
        return None
    if tokenizer is None:
        raise UsageError(f"{name} has no tokenizer to read a text with; leave --text out")
    import torch

    if hasattr(tokenizer, "convert_ids_to_tokens"):  # of transformers
        return tokenizer(text, return_tensors="pt")["input_ids"]
    return torch.tensor(tokenizer.encode([text]))


def _table(name: str, found: "list[Finding]") -> "Iterator[str]":
    ill = sum(each.verdict == "ill" for each in found)
    made = sum(each.verdict != "skipped" for each in found)
    yield ink(f"{name}: {f'{ill} of {made} checks say ill' if ill else f'well, by {made} checks'}", BOLD)
    width = max(len(each.check) for each in found)
    colours = {"well": GREEN, "ill": RED, "counted": DIM, "skipped": DIM}
    for each in found:
        mark = ink(MARKS[each.verdict], colours[each.verdict])
        said = ink(f"skipped: {each.why}", DIM) if each.verdict == "skipped" else each.value
        yield f"{mark} {each.check:<{width}}  {said}"
        if each.verdict == "ill":
            yield f"  {'':<{width}}  often: {each.why}"
