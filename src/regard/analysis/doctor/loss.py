"""Losses that can be foretold: of a fresh model, of a trained one on its text, and of a batch learnt by heart."""

import math
from copy import deepcopy

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from regard.analysis.anatomy import feed, is_causal, read_answer
from regard.analysis.doctor.finding import Finding, judge, skip
from regard.analysis.doctor.patient import Patient, as_rows, fold

RATES = (1e-2, 3e-3, 3e-4)  # one of them suits a model, whatever its size
SMALL = 1_000_000  # parameters of a model that takes the largest rate first, and of a larger one that takes it last
LEARNT = 0.1  # what is left of a loss when a batch is known by heart
STUCK = 0.25  # and what is left of it where something stands in the way


@torch.no_grad()
def initial(patient: Patient) -> Finding:
    """A model that knows nothing should be equally unsure of everything: its loss is ln V."""
    check = "initial loss near ln V"
    if patient.fresh is None:
        return skip(check, "nothing says how to draw its weights anew")
    answer = patient.choices(patient.fresh())
    if answer is None:
        return skip(check, "it has no words or classes to choose from")
    # The mean loss over all that could be right; it is never below ln V.
    loss = -answer.float().log_softmax(dim=-1).mean().item()
    best = math.log(answer.shape[-1])
    return judge(
        check,
        loss - best <= max(1.0, 0.25 * best),
        f"{loss:.2f}, ln {answer.shape[-1]} = {best:.2f}",
        "first weights that are too large (an embedding of std 1 that is also the output layer, a branch that is not "
        "scaled with depth), a missing last norm, logits that were scaled twice",
    )


@torch.no_grad()
def text(patient: Patient) -> Finding:
    """A trained model should be less surprised by a text than one that guesses."""
    check = "loss on the text below ln V"
    if patient.text is None:
        return skip(check, "no text was given")
    if patient.written not in ("ids", "input_ids"):
        return skip(check, "it does not read one text alone")
    output = patient.model(**feed(patient.model, patient.text))
    logits = read_answer(output).float()
    if not patient.speaks(output) or logits.ndim != 3 or logits.shape[-1] <= int(patient.text.max()):
        return skip(check, "it has no words to say")
    causal = is_causal(patient.model)
    said, right = (logits[0, :-1], patient.text[0, 1:]) if causal else (logits[0], patient.text[0])
    if len(right) < 1:
        return skip(check, "a text of one word is followed by none")
    loss, best = F.cross_entropy(said, right).item(), math.log(logits.shape[-1])
    return judge(
        check,
        loss < best,
        f"{loss:.2f}, ln {logits.shape[-1]} = {best:.2f}",
        "weights that were not loaded or went to other places, the tokenizer of another model, labels that are moved "
        "by one place, or a text of another kind than it was trained on",
    )


def overfit(patient: Patient) -> Finding:
    """One batch can be learnt by heart; what cannot do that will learn nothing larger."""
    check = "one batch can be overfitted"
    inputs, start, best, taken = patient.draw(), math.nan, math.inf, 0
    if any(x.dtype == torch.long for x in fold(patient.model(**inputs))):
        return skip(check, "it gives tokens on the way, and a few steps do not teach it which to choose")
    if any(name.startswith("teacher") for name in patient.frozen):
        return skip(check, "it learns from its own teacher, and its answers are cosines that no label can pull far")
    wanted: Tensor | None = None
    small = sum(weight.numel() for weight in patient.model.parameters()) < SMALL
    for lr in RATES if small else (*RATES[1:], RATES[0]):
        pupil = deepcopy(patient.model).eval()  # without dropout
        for weight in pupil.parameters():
            weight.requires_grad_(True)
        optimizer = torch.optim.AdamW(pupil.parameters(), lr=lr, weight_decay=0.0)
        for _ in range(patient.steps):
            answer = as_rows(read_answer(pupil(**inputs))).float()
            wanted = _labels(answer) if wanted is None else wanted
            loss = _loss(answer, wanted)
            if not loss.requires_grad:
                return judge(check, False, "the loss depends on no weight", CAUSES)
            start = loss.item() if math.isnan(start) else start
            best, taken = min(best, loss.item()), taken + 1
            if not math.isfinite(loss.item()) or loss.item() < LEARNT * start:
                break
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(pupil.parameters(), 1.0)
            optimizer.step()
        if best < LEARNT * start:
            break
    return judge(check, best < STUCK * start, f"{start:.2f} to {best:.3f} in {taken} steps", CAUSES)


CAUSES = (
    "a detach() between the loss and the weights, weights that the optimizer was not given, an activation that is dead "
    "everywhere, labels that are moved or shuffled, a mask that hides all that could tell them apart"
)


def _labels(answer: Float[Tensor, "*b c"]) -> Tensor:
    """Random classes; of pictures one random colour each, and random numbers where there is nothing to choose from."""
    if answer.ndim > 3:
        return torch.randn(*answer.shape[:2], 1, 1, device=answer.device).expand_as(answer)
    if answer.shape[-1] == 1:
        return torch.randn(answer.shape, device=answer.device)
    return torch.randint(answer.shape[-1], answer.shape[:-1], device=answer.device)


def _loss(answer: Float[Tensor, "*b c"], wanted: Tensor) -> Float[Tensor, ""]:
    if wanted.is_floating_point():
        return F.mse_loss(answer, wanted)
    return F.cross_entropy(answer.flatten(0, -2), wanted.flatten())
