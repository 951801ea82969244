"""The flags of the explorer."""

from regard.cli.explore import Flags
from regard.cli.flags import parse
from regard.cli.verbs import verbs


def test_several_models_may_be_named_and_the_browser_left_closed() -> None:
    flags = parse(Flags, verbs()["explore"], ["--model", "a", "--model", "b", "--no-open"])
    assert flags.model == ("a", "b")
    assert not flags.open
