"""The algebra of noise, and the way back."""

import pytest
import torch
from torch import Tensor

from regard.decode.denoise import blend, cosine, denoise, draw_noise, guided, part
from regard.decode.sampling import seeded


def test_noise_only_grows_and_picture_and_noise_lie_on_a_circle() -> None:
    alpha, sigma = cosine(torch.linspace(0, 1, 101))
    assert (alpha.diff() < 0).all()
    assert (sigma.diff() > 0).all()
    torch.testing.assert_close(alpha**2 + sigma**2, torch.ones(101))
    assert alpha[0] > 0.999
    assert alpha[-1].abs() < 1e-6


def test_what_is_blended_is_parted_again() -> None:
    clean, noise, time = torch.rand(5, 3, 4, 4) * 2 - 1, torch.randn(5, 3, 4, 4), torch.linspace(0, 1, 5)
    for ours, theirs in zip(part(*blend(clean, noise, time), time), (clean, noise), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("steps", [1, 2, 7, 50])
def test_who_knows_the_picture_recovers_it_in_any_number_of_steps(steps: int) -> None:
    clean, noise = torch.rand(2, 3, 4, 4) * 2 - 1, torch.randn(2, 3, 4, 4)

    def perfect(noised: Tensor, time: Tensor) -> Tensor:
        alpha, sigma = (each[:, None, None, None] for each in cosine(time))
        return (alpha * noised - clean) / sigma  # of the picture, and whatever noise there is

    told = list(denoise(perfect, noise, steps=steps))
    assert len(told) == steps
    assert [each.time for each in told][-1] == 0
    torch.testing.assert_close(told[-1].noised, clean, atol=1e-5, rtol=1e-5)
    # On the way, the picture is the one that the first noise makes at that time.
    for each in told[:-1]:
        torch.testing.assert_close(
            each.noised, blend(clean, noise, torch.full((2,), each.time))[0], atol=1e-4, rtol=1e-4
        )


def test_what_is_taken_for_the_picture_is_kept_within_its_bounds() -> None:
    far = denoise(lambda noised, _: torch.full_like(noised, -3.0), torch.zeros(1, 1, 2, 2), steps=1)
    assert next(far).clean.equal(torch.ones(1, 1, 2, 2))
    free = denoise(lambda noised, _: torch.full_like(noised, -3.0), torch.zeros(1, 1, 2, 2), steps=1, clip=None)
    torch.testing.assert_close(next(free).clean, torch.full((1, 1, 2, 2), 3.0))


def test_guidance_of_one_is_what_was_asked_for_of_zero_what_was_not_and_beyond_one_beyond() -> None:
    x, time = torch.randn(2, 3, 4, 4), torch.rand(2)

    def both(noised: Tensor, times: Tensor) -> Tensor:
        assert len(noised) == len(times) == 4
        return torch.cat((noised[:2] + 1, noised[2:] - 1))

    torch.testing.assert_close(guided(both, 1.0)(x, time), x + 1)
    torch.testing.assert_close(guided(both, 0.0)(x, time), x - 1)
    torch.testing.assert_close(guided(both, 3.0)(x, time), x + 5)


def test_noise_belongs_to_its_seed_and_not_to_its_batch() -> None:
    assert draw_noise((3, 4, 4), seeded(7, 3))[1:2].equal(draw_noise((3, 4, 4), seeded(7, 2)[1:]))


def test_no_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="0 steps take out no noise"):
        next(denoise(lambda noised, _: noised, torch.zeros(1, 3, 4, 4), steps=0))
