"""What the world tells: its stories, and episodes in which a new word is explained and then asked for."""

from regard.world import language

FAR = 100_000_000  # where, of what may be learnt from, begins what is scored in between
MANY, HELD = 100_000, 1000  # texts of train, and of val and test, where nobody says how many


def world_texts(split: str = "train", count: int = 0) -> list[str]:
    """Stories and episodes by turns, each a text of one line."""
    count = count or (MANY if split == "train" else HELD)
    told = (" ".join(sentences) for sentences in world_stories(split, -(-count // 2)))
    first, fold = _where(split)
    episodes = language.episodes(split=fold)[first : first + -(-count // 2)]
    asked = (
        " ".join((*map(language.text, each.lessons), language.text(each.question), each.answer)) for each in episodes
    )
    return [text for pair in zip(told, asked, strict=True) for text in pair][:count]


def world_stories(split: str = "train", count: int = 0) -> list[list[str]]:
    """Stories as their sentences."""
    first, fold = _where(split)
    stories = language.stories(split=fold)[first : first + (count or (MANY if split == "train" else HELD))]
    return [[language.text(sentence) for sentence in story.sentences] for story in stories]


def _where(split: str) -> tuple[int, str]:
    """The number of the first item, and the half of the world it is of: what is in the test is met nowhere else."""
    if split not in ("train", "val", "test"):
        raise ValueError(f"no split is called {split!r}; choose train, val or test")
    return (FAR if split == "val" else 0), "test" if split == "test" else "train"
