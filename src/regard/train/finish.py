"""The end of a training: a model in a folder, and a card that says what was trained."""

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from regard.files import replacing, write_json
from regard.hub import save
from regard.train import checkpoint, curve, machine
from regard.train.plan import OF_THE_RUN
from regard.train.run import Run, RunError, metrics
from regard.train.training import Training


def finish(training: Training, run: Run, say: Callable[[str], object]) -> None:
    """Leave a model: the mean of the last checkpoints where the plan says so, else the best."""
    task, model = training.task, training.plain
    model.load_state_dict(_weights(training, run))
    model.eval()
    if task.picture is not None:
        path = run.folder / "picture.png"
        with torch.no_grad(), replacing(path) as beside:
            task.picture(model).save(beside, format="png")
        say(f"{path} shows what the model makes")
    if task.merge is not None:
        model = task.merge(model) or model
    model.eval()
    card = _card(training, run, model)
    if task.measure is not None:
        with torch.no_grad():
            card["measured"] = dict(task.measure(model))
    if task.family is None:
        _save_state(run.model, model, card)
        say(f"{run.model} holds the state dict alone: a Task with a `family` leaves a model that regard.load opens")
    else:
        save(
            run.model,
            model,
            family=task.family,
            card=card,
            tokenizer=task.tokenizer,
            processor=task.processor,
            dtype=task.dtype,
        )
    curve.keep(run.folder, run.model, metrics(run.folder))


def _weights(training: Training, run: Run) -> dict[str, Tensor]:
    plan = training.plan
    if plan.average > 1:
        kept = checkpoint.regular(checkpoint.present(run.checkpoints), plan.save)[-plan.average :]
        return checkpoint.mean(kept, "shown." if plan.ema else "model.")
    try:
        weights, _ = checkpoint.read(run.checkpoints / "best.safetensors")
    except (FileNotFoundError, checkpoint.DamageError) as error:
        raise RunError(f"the best weights are lost ({error}); begin anew in another folder") from None
    return weights


def _card(training: Training, run: Run, model: nn.Module) -> dict[str, Any]:
    """What is true of the model that is left, whatever the flags said."""
    task, config = training.task, getattr(model, "config", None)
    flags = {name: value for name, value in run.fields.items() if name not in OF_THE_RUN}
    facts = flags | {"steps": training.step} | dict(task.trained_with)
    if is_dataclass(config) and not isinstance(config, type):
        facts["config"] = asdict(config)
    return {
        "task": task.task,
        **task.card,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "steps": training.step,
        "minutes": round(training.seconds / 60, 1),
        "seed": training.plan.seed,
        "recipe": run.recipe,
        "trained_with": {name: value for name, value in facts.items() if value is not None},
        "machine": machine.describe() | {"processes": training.ranks.count},
    }


def _save_state(folder: Path, model: nn.Module, card: dict[str, Any]) -> None:
    weights = checkpoint.apart(model.state_dict())
    with replacing(folder / "model.safetensors") as beside:
        save_file(weights, beside)
    write_json(folder / "card.json", card)
