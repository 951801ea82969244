"""The Transformer beside torch's own and Marian's, with the weights copied over: logits, and every attention."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import DetrConfig, MarianConfig, MarianMTModel
from transformers.models.detr.modeling_detr import DetrDecoderLayer

from regard.attention import Attention, causal, multihead, padding, record
from regard.layers import MLP, PostNormBlock
from regard.layers.position import Sinusoidal, sinusoid
from regard.models.transformer import Config, Transformer

CONFIG = Config(vocab=50, width=32, depth=2, heads=4, hidden=48)
LENGTHS = torch.tensor([7, 4, 1])


def words(*shape: int) -> Tensor:
    return torch.randint(1, CONFIG.vocab, shape)


def randomise(module: nn.Module) -> None:
    """Offsets start at zero and norms at one, where mistakes with them would not show."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    module.eval()


def close(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=2e-5, rtol=1e-5)


def torchs(config: Config) -> nn.Transformer:
    """As published, without the final norms that `nn.Transformer` adds to stacks of post-norm layers too."""
    settings = dict(batch_first=True, norm_first=config.norm_first)
    encoder = nn.TransformerEncoderLayer(config.width, config.heads, config.hidden, **settings)
    decoder = nn.TransformerDecoderLayer(config.width, config.heads, config.hidden, **settings)
    norms = [nn.LayerNorm(config.width) if config.norm_first else None for _ in range(2)]
    return nn.Transformer(
        config.width,
        config.heads,
        custom_encoder=nn.TransformerEncoder(encoder, config.depth, norms[0], enable_nested_tensor=False),
        custom_decoder=nn.TransformerDecoder(decoder, config.depth, norms[1]),
        batch_first=True,
    )


def copy_torch(ours: Transformer, theirs: nn.Transformer) -> None:
    for mine, other in zip(ours.encoder.blocks, theirs.encoder.layers, strict=True):
        copy_torch_layer(mine, other)
        copy(mine.mlp_norm, other.norm2)
    for mine, other in zip(ours.decoder.blocks, theirs.decoder.layers, strict=True):
        copy_torch_layer(mine, other)
        copy_torch_attention(mine.cross, other.multihead_attn)
        copy(mine.cross_norm, other.norm2)
        copy(mine.mlp_norm, other.norm3)
    if ours.config.norm_first:
        copy(ours.encoder_norm, theirs.encoder.norm)
        copy(ours.decoder_norm, theirs.decoder.norm)


def copy_torch_layer(mine: nn.Module, other: nn.Module) -> None:
    copy_torch_attention(mine.attn, other.self_attn)
    copy(mine.attn_norm, other.norm1)
    copy(mine.mlp.up, other.linear1)
    copy(mine.mlp.down, other.linear2)


def copy_torch_attention(mine: Attention, other: nn.MultiheadAttention) -> None:
    thirds = zip((mine.q, mine.k, mine.v), other.in_proj_weight.chunk(3), other.in_proj_bias.chunk(3), strict=True)
    for linear, weight, offset in thirds:
        linear.load_state_dict({"weight": weight, "bias": offset})
    copy(mine.out, other.out_proj)


def copy(mine: nn.Module, other: nn.Module) -> None:
    mine.load_state_dict(other.state_dict())


def watched(theirs: nn.Transformer) -> dict[str, Tensor]:
    """Have torch's layers ask for the weights they throw away, and keep them."""
    kept: dict[str, Tensor] = {}

    def ask(module: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, object]) -> tuple[object, ...]:
        return args, kwargs | {"need_weights": True, "average_attn_weights": False}

    def keep(name: str) -> Callable[[nn.Module, object, tuple[Tensor, Tensor]], None]:
        return lambda module, args, answer: kept.update({name: answer[1]})

    for name, module in theirs.named_modules():
        if isinstance(module, nn.MultiheadAttention):
            module.register_forward_pre_hook(ask, with_kwargs=True)
            module.register_forward_hook(keep(name))
    return kept


def run_torch(ours: Transformer, theirs: nn.Transformer, source: Tensor, target: Tensor) -> Tensor:
    # Torch's masks say True where looking is forbidden; ours are turned over at this border.
    hidden = ~padding(LENGTHS, source.shape[1])[:, 0, 0]
    x, y = (
        ours.embed(ids) * CONFIG.width**0.5 + sinusoid(torch.arange(ids.shape[1]), CONFIG.width)
        for ids in (source, target)
    )
    future = ~causal(target.shape[1]).draw()
    z = theirs(x, y, tgt_mask=future, src_key_padding_mask=hidden, memory_key_padding_mask=hidden, tgt_is_causal=True)
    return F.linear(z, ours.embed.weight)


@pytest.mark.parametrize("first", [True, False])
def test_logits_gradients_and_every_attention_are_those_of_torch(first: bool) -> None:
    config = Config(50, 32, 2, 4, 48, norm_first=first)
    ours, theirs = Transformer(config).eval(), torchs(config)
    randomise(theirs)
    copy_torch(ours, theirs)
    kept = watched(theirs)
    source, target = words(3, 7), words(3, 5)
    with record(ours) as trace:
        logits = ours(source, target, lengths=LENGTHS)
    expected = run_torch(ours, theirs, source, target)
    close(logits, expected)
    for i in range(config.depth):
        for side, name, its in (
            ("encoder", "attn", "self_attn"),
            ("decoder", "attn", "self_attn"),
            ("decoder", "cross", "multihead_attn"),
        ):
            close(trace.weights(f"{side}.blocks.{i}.{name}"), kept[f"{side}.layers.{i}.{its}"])
    assert len(trace) == len(kept) == 3 * config.depth
    goal = torch.randn_like(logits)
    (mine,) = torch.autograd.grad((logits * goal).sum(), ours.embed.weight)
    (other,) = torch.autograd.grad((expected * goal).sum(), ours.embed.weight)
    torch.testing.assert_close(mine, other, atol=1e-3, rtol=1e-3)


class MarianPositions(Sinusoidal):
    """Marian's table in place of our code: it has all sines first and all cosines after, where ours take turns."""

    def __init__(self, table: Tensor) -> None:
        super().__init__(table.shape[1])
        self.table = table

    def forward(self, x: Tensor, start: int | Tensor = 0) -> Tensor:
        assert isinstance(start, int)
        return x + self.table[start : start + x.shape[1]]


def marian() -> tuple[Transformer, MarianMTModel]:
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=CONFIG.vocab,
            d_model=CONFIG.width,
            encoder_layers=CONFIG.depth,
            decoder_layers=CONFIG.depth,
            encoder_attention_heads=CONFIG.heads,
            decoder_attention_heads=CONFIG.heads,
            encoder_ffn_dim=CONFIG.hidden,
            decoder_ffn_dim=CONFIG.hidden,
            activation_function="relu",
            scale_embedding=True,
            max_position_embeddings=16,
            pad_token_id=0,
            eos_token_id=2,
            forced_eos_token_id=None,
            decoder_start_token_id=1,
            attn_implementation="eager",
        )
    )
    table = theirs.model.encoder.embed_positions.weight.clone()
    randomise(theirs)
    for side in (theirs.model.encoder, theirs.model.decoder):
        side.embed_positions.weight.data.copy_(table)
    theirs.final_logits_bias.normal_()
    ours = Transformer(CONFIG).eval()
    ours.position = MarianPositions(table)
    copy(ours.embed, theirs.model.shared)
    for mine, other in zip(ours.encoder.blocks, theirs.model.encoder.layers, strict=True):
        copy_marian_layer(mine, other)
    for mine, other in zip(ours.decoder.blocks, theirs.model.decoder.layers, strict=True):
        copy_marian_layer(mine, other)
        copy_marian_attention(mine.cross, other.encoder_attn)
        copy(mine.cross_norm, other.encoder_attn_layer_norm)
    return ours, theirs


def copy_marian_layer(mine: nn.Module, other: nn.Module) -> None:
    copy_marian_attention(mine.attn, other.self_attn)
    copy(mine.attn_norm, other.self_attn_layer_norm)
    copy(mine.mlp.up, other.fc1)
    copy(mine.mlp.down, other.fc2)
    copy(mine.mlp_norm, other.final_layer_norm)


def copy_marian_attention(mine: Attention, other: nn.Module) -> None:
    for name in ("q", "k", "v", "out"):
        copy(getattr(mine, name), getattr(other, f"{name}_proj"))


def test_marians_positions_are_ours_in_another_order() -> None:
    _, theirs = marian()
    ours = sinusoid(torch.arange(16), CONFIG.width)
    table = theirs.model.decoder.embed_positions.weight
    close(torch.cat((ours[:, 0::2], ours[:, 1::2]), dim=-1), table)


@torch.no_grad()
def test_logits_and_every_attention_are_those_of_marian() -> None:
    ours, theirs = marian()
    source, target = words(3, 7), words(3, 5)
    with record(ours) as trace:
        logits = ours(source, target, lengths=LENGTHS)
    expected = theirs(
        input_ids=source,
        attention_mask=padding(LENGTHS, 7)[:, 0, 0].long(),
        decoder_input_ids=target,
        output_attentions=True,
    )
    # Marian adds a constant to the logits, which the paper does not have.
    close(logits, expected.logits - theirs.final_logits_bias)
    for i in range(CONFIG.depth):
        close(trace.weights(f"encoder.blocks.{i}.attn"), expected.encoder_attentions[i])
        close(trace.weights(f"decoder.blocks.{i}.attn"), expected.decoder_attentions[i])
        close(trace.weights(f"decoder.blocks.{i}.cross"), expected.cross_attentions[i])


@torch.no_grad()
def test_writing_word_by_word_gives_what_marian_writes() -> None:
    ours, theirs = marian()
    theirs.final_logits_bias.zero_()
    source = words(3, 7)
    expected = theirs.generate(
        input_ids=source,
        attention_mask=padding(LENGTHS, 7)[:, 0, 0].long(),
        max_new_tokens=8,
        num_beams=1,
        do_sample=False,
        eos_token_id=None,
    )
    state = ours.start(source, lengths=LENGTHS)
    written = [torch.ones(3, 1, dtype=torch.long)]
    for _ in range(8):
        logits, state = ours.step(written[-1], state)
        logits[..., 0] = -torch.inf  # Marian never writes its padding
        written.append(logits.argmax(dim=-1))
    assert torch.cat(written, dim=1).equal(expected)


def test_a_block_that_is_told_where_things_are_is_a_decoder_layer_of_detr() -> None:
    config = DetrConfig(d_model=32, decoder_attention_heads=4, decoder_ffn_dim=48, attn_implementation="eager")
    theirs = DetrDecoderLayer(config)
    randomise(theirs)
    ours = PostNormBlock(
        32, multihead(32, 4), MLP(32, 48, activation=nn.ReLU), cross=multihead(32, 4), dropout=0.1
    ).eval()
    for mine, other in ((ours.attn, theirs.self_attn), (ours.cross, theirs.encoder_attn)):
        for name, its in (("q", "q_proj"), ("k", "k_proj"), ("v", "v_proj"), ("out", "o_proj")):
            copy(getattr(mine, name), getattr(other, its))
    copy(ours.attn_norm, theirs.self_attn_layer_norm)
    copy(ours.cross_norm, theirs.encoder_attn_layer_norm)
    copy(ours.mlp_norm, theirs.final_layer_norm)
    copy(ours.mlp.up, theirs.mlp.fc1)
    copy(ours.mlp.down, theirs.mlp.fc2)
    queries, slots, image, cells = (
        torch.randn(2, 5, 32),
        torch.randn(2, 5, 32),
        torch.randn(2, 7, 32),
        torch.randn(7, 32),
    )
    expected = theirs(
        queries,
        object_queries_position_embeddings=slots,
        encoder_hidden_states=image,
        spatial_position_embeddings=cells,
    )
    close(ours(queries, ours.cross.remember(image, where=cells[None]), where=slots), expected)
