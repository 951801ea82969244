"""Pictures and texts that belong together are told from all others, in pieces and by several processes alike."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor

from regard.models.clip import CLIP, PRESETS, Matched
from regard.train.contrastive import Loss, contrast


def vectors(count: int, seed: int) -> Tensor:
    return F.normalize(torch.randn(count, 8, generator=torch.Generator().manual_seed(seed)), dim=-1)


def pairs(count: int = 6) -> Matched:
    return Matched(vectors(count, 0), vectors(count, 1), torch.tensor(5.0), torch.tensor(-2.0))


def test_the_softmax_loss_is_the_mean_of_both_directions() -> None:
    given = pairs()
    logits, own = 5 * given.image @ given.text.T, torch.arange(6)
    wanted = (F.cross_entropy(logits, own, reduction="sum") + F.cross_entropy(logits.T, own, reduction="sum")) / 2
    torch.testing.assert_close(contrast(given), wanted)


def test_the_sigmoid_loss_asks_of_each_pair_alone() -> None:
    given = pairs()
    signs = 2 * torch.eye(6) - 1
    torch.testing.assert_close(contrast(given, loss="sigmoid"), -F.logsigmoid(signs * given.logits).sum())


def test_the_same_caption_twice_is_no_wrong_answer() -> None:
    given = pairs(3)
    twice = given._replace(text=given.text[[0, 0, 2]])
    keys = torch.tensor([7, 7, 9])
    lost = contrast(twice, keys)
    assert lost < contrast(twice)
    alone = contrast(twice._replace(image=twice.image[[0, 2]], text=twice.text[[0, 2]]))
    assert lost > alone  # each still has to be told from the third


@pytest.mark.parametrize("loss", ["softmax", "sigmoid"])
def test_a_batch_in_chunks_has_the_gradients_of_the_whole(loss: Loss) -> None:
    torch.manual_seed(0)
    model = CLIP(PRESETS["clip-nano"])
    image, ids, lengths = torch.randn(10, 3, 16, 16), torch.randint(48, (10, 7)), torch.tensor([7, 3] * 5)

    def gradients(chunk: int) -> dict[str, Tensor]:
        model.zero_grad()
        contrast(model(image, ids, lengths=lengths, chunk=chunk), loss=loss).backward()
        # A bias of pairs has no gradient where they are only compared.
        return {name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None}

    whole, cached = gradients(0), gradients(4)
    assert whole.keys() == cached.keys()
    for name, gradient in whole.items():
        torch.testing.assert_close(cached[name], gradient, atol=1e-5, rtol=1e-4, msg=name)


def test_a_batch_in_chunks_keeps_little_in_memory() -> None:
    model = CLIP(PRESETS["clip-nano"])
    image, ids = torch.randn(32, 3, 16, 16), torch.randint(48, (32, 7))

    def kept(chunk: int) -> int:
        """Bytes that the backward pass waits for."""
        sizes = list[int]()

        def pack(tensor: Tensor) -> Tensor:
            sizes.append(tensor.numel() * tensor.element_size())
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            contrast(model(image, ids, chunk=chunk))
        return sum(sizes)

    assert kept(4) < kept(0) / 5


def together(rank: int, folder: Path) -> None:
    """One of two processes, the second of which has fewer pairs."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    mine = slice(0, 4) if rank == 0 else slice(4, 6)
    given = pairs()
    image, text, scale = (each.clone().requires_grad_() for each in (given.image[mine], given.text[mine], given.scale))
    lost = contrast(Matched(image, text, scale, given.bias), torch.arange(6)[mine], gathered=True)
    lost.backward()
    torch.save([lost.detach(), image.grad, text.grad, scale.grad], folder / f"{rank}.pt")
    dist.destroy_process_group()


@pytest.mark.skipif(not dist.is_gloo_available(), reason="torch was built without gloo")
def test_two_processes_have_together_the_loss_and_gradients_of_one(tmp_path: Path) -> None:
    command = [sys.executable, __file__, str(tmp_path)]
    both = [subprocess.Popen([*command, str(rank)]) for rank in range(2)]
    assert [each.wait(240) for each in both] == [0, 0]
    first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in range(2))
    given = pairs()
    image, text, scale = (each.clone().requires_grad_() for each in (given.image, given.text, given.scale))
    lost = contrast(Matched(image, text, scale, given.bias))
    lost.backward()
    torch.testing.assert_close(first[0] + second[0], lost.detach())
    torch.testing.assert_close(torch.cat((first[1], second[1])), image.grad)
    torch.testing.assert_close(torch.cat((first[2], second[2])), text.grad)
    torch.testing.assert_close(first[3] + second[3], scale.grad)


def test_processes_know_their_pairs_by_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    with pytest.raises(ValueError, match="need keys, by which they are known"):
        contrast(pairs(), gathered=True)


if __name__ == "__main__":
    together(int(sys.argv[2]), Path(sys.argv[1]))
