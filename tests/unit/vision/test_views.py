"""Several views of one picture: which they are, and that nothing of the average is lost."""

import pytest
import torch

from regard.vision.views import Tta, views


@pytest.mark.parametrize(("tta", "count"), [("none", 1), ("mirror", 2), ("moved", 6)])
def test_views_have_the_size_of_the_picture_and_weights_of_one(tta: Tta, count: int) -> None:
    found = views(torch.randn(2, 3, 8, 6), tta)
    assert [view.shape for _, view in found] == [(2, 3, 8, 6)] * count
    assert sum(weight for weight, _ in found) == 1


def test_a_moved_view_shows_the_next_pixel() -> None:
    image = torch.arange(20.0).view(1, 1, 4, 5)
    shown = [view for _, view in views(image, "moved")]
    torch.testing.assert_close(shown[2][..., 1:, 1:], image[..., :-1, :-1])  # down and right
    torch.testing.assert_close(shown[4][..., :-1, :-1], image[..., 1:, 1:])  # up and left
    torch.testing.assert_close(shown[1], image.flip(-1))
