"""Models that are open: found again while they are, and closed when their weights need the room of others."""

from pathlib import Path

from tests.web.conftest import save_model

from regard.web.opened import Opened, Place


def test_the_model_that_was_used_longest_ago_makes_room_and_the_newest_stays_however_large(tmp_path: Path) -> None:
    one, two, three = (Place(name, str(save_model(tmp_path / name, kind="none"))) for name in ("one", "two", "three"))
    size = sum(each.nbytes for each in Opened().find(one).model.state_dict().values())
    opened = Opened(room=2 * size)
    first = opened.find(one)
    opened.find(two)
    assert opened.find(one) is first, "what is open is not read again"
    opened.find(three)
    assert [place in opened for place in (one, two, three)] == [True, False, True]
    narrow = Opened(room=1)
    assert narrow.find(one).name == "one"
    assert one in narrow
