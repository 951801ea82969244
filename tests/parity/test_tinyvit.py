"""TinyViT as timm has it: the same weights say the same, on pictures that windows divide and on others."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import nn

from regard.models import build

# Their names for ours, part by part.
NAMES: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"^patch_embed\.conv1\.", "stem.0."),
    (r"^patch_embed\.conv2\.", "stem.2."),
    (r"^stages\.(\d)\.downsample\.conv(\d)\.", lambda m: f"merges.{int(m[1]) - 1}.convs.{2 * int(m[2]) - 2}."),
    (r"^stages\.0\.blocks\.(\d)\.conv(\d)\.", lambda m: f"stages.0.{m[1]}.branch.{2 * int(m[2]) - 2}."),
    (r"^stages\.(\d)\.blocks\.", r"stages.\1."),
    (r"\.attn\.attention_biases$", ".attn.attn.bias.table"),
    (r"\.attn\.proj\.", ".attn.attn.out."),
    (r"\.mlp\.norm\.", ".mlp_norm."),
    (r"\.fc1\.", ".up."),
    (r"\.fc2\.", ".down."),
    (r"\.local_conv\.", ".local."),
    (r"\.conv\.", ".0."),
    (r"\.bn\.", ".1."),
    (r"^head\.norm\.", "head.0."),
    (r"^head\.fc\.", "head.1."),
]


@torch.no_grad()
@pytest.mark.parametrize("size", [224, 160])
def test_a_tinyvit_is_that_of_timm_on_the_same_weights(size: int) -> None:
    tiny_vit = pytest.importorskip("timm.models.tiny_vit", reason="timm, the oracle, is not installed")
    other = tiny_vit.tiny_vit_5m_224(num_classes=7).eval()
    for module in other.modules():  # branches start at nothing, biases too
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
    state = {}
    for name, tensor in other.state_dict().items():
        for theirs, mine in NAMES:
            name = re.sub(theirs, mine, name)
        state[name] = tensor.normal_() if name.endswith("bias.table") else tensor
    ours = build("tinyvit-5m", classes=7).eval()
    ours.load_state_dict(state)
    image = torch.randn(2, 3, size, size)
    torch.testing.assert_close(ours(image), other(image), atol=1e-4, rtol=1e-3)
