"""A film is shown as so many frames of one size, from its first to its last."""

import numpy as np
import pytest

from regard.vision.film import Film, FilmError


def test_frames_are_spread_from_the_first_to_the_last() -> None:
    film = np.arange(16, dtype=np.uint8)[:, None, None, None].repeat(32, 1).repeat(32, 2).repeat(3, 3)
    seen = Film(4, 32).fit(film)
    assert seen.shape == (4, 32, 32, 3)
    np.testing.assert_allclose(np.rint((seen[:, 0, 0, 0] + 1) * 127.5), [0, 5, 10, 15])
    assert Film(8, 16).fit(film[:2]).shape == (8, 16, 16, 3)  # a shorter one, and larger frames


@pytest.mark.usefixtures("as_users_meet_it")
@pytest.mark.parametrize(
    "film", [np.zeros((4, 8, 8, 3)), np.zeros((4, 8, 8), np.uint8), np.zeros((0, 8, 8, 3), np.uint8)], ids=str
)
def test_what_is_no_film_is_refused(film: np.ndarray) -> None:
    with pytest.raises(FilmError, match=r"give bytes of \(frames, height, width, 3\)"):
        Film().fit(film)
