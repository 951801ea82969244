"""Scenes by number: the same for everybody, evenly spread, in splits that never meet."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import islice

import pytest

from regard.chance import Chance
from regard.world.build import DEPTHS, HELD_OUT_ORDERS, HELD_OUT_PAIRS, SPLITS, scene, scenes
from regard.world.place import placed
from regard.world.scene import COLOURS, FILLS, KINDS, RELATIONS, SIZES, Scene, Thing, relations

MANY = {split: list(scenes(seed=11, split=split)[: 600 if split == "train" else 250]) for split in SPLITS}


def pairs(these: Iterable[Scene]) -> Counter[tuple[str, str]]:
    return Counter((thing.colour, thing.kind) for each in these for thing in each.things)


def orders(each: Scene) -> set[tuple[str, str]]:
    things = each.things
    return {
        (a.kind, b.kind)
        for i, a in enumerate(things)
        for j, b in enumerate(things)
        if i != j and "left of" in relations(each, i, j)
    }


def test_item_seven_is_item_seven_whoever_asks_first() -> None:
    view = scenes(seed=3)
    seventh = view[7]
    assert list(islice(view, 8))[7] == seventh == scene(3, 7) == scenes(seed=3)[5:][2]


def test_another_process_builds_the_same_scenes() -> None:
    code = "from regard.world.build import scenes; print([scenes(seed=9, split='novel')[i] for i in (0, 5, 1000)])"
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert there == str([scenes(seed=9, split="novel")[i] for i in (0, 5, 1000)])


def test_seeds_and_splits_give_different_scenes() -> None:
    first = [scene(0, 0), scene(1, 0), scene(0, 1), scene(0, 0, split="test"), scene(0, 0, split="novel")]
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_workers_share_the_scenes_without_overlap(workers: int) -> None:
    view = scenes(seed=2, count=50)
    parts = [view.part(worker, workers) for worker in range(workers)]
    assert sum(map(len, parts)) == 50
    dealt: list[Scene | None] = [None] * 50
    for worker, part in enumerate(parts):
        dealt[worker::workers] = list(part)
    assert dealt == list(view)


def test_endless_parts_take_turns() -> None:
    view = scenes(seed=2)
    assert [view.part(1, 3)[i] for i in range(4)] == [view[1 + 3 * i] for i in range(4)]
    assert view.part(1, 2).part(0, 2)[3] == view[1 + 4 * 3]


def test_slices_are_views() -> None:
    view = scenes(seed=2, count=20)
    assert list(view[4:10:3]) == [view[4], view[7]]
    assert view[-1] == view[19]
    assert len(view[:100]) == 20
    with pytest.raises(IndexError, match="item 20 is not among these 20 scenes"):
        view[20]
    with pytest.raises(TypeError, match="no last one"):
        len(scenes())


@pytest.mark.parametrize("split", SPLITS)
def test_attributes_are_near_uniform(split: str) -> None:
    things = [thing for each in MANY[split] for thing in each.things]
    named: dict[str, tuple[str, ...]] = {"kind": KINDS, "colour": COLOURS, "fill": FILLS, "scale": tuple(SIZES)}
    for name, values in named.items():
        counts = Counter(getattr(thing, name) for thing in things)
        expected = len(things) / len(values)
        # Five standard deviations of a fair die.
        assert all(abs(counts[value] - expected) < 5 * expected**0.5 for value in values), (name, counts)


def test_crowding_does_not_bend_the_sizes() -> None:
    full = Counter(thing.scale for each in scenes(seed=4, things=6)[:100] for thing in each.things)
    assert all(abs(count - 200) < 5 * 200**0.5 for count in full.values())


def test_counts_of_things_are_near_uniform() -> None:
    counts = Counter(len(each.things) for each in MANY["train"])
    assert sorted(counts) == [1, 2, 3, 4, 5, 6]
    assert all(abs(count - 100) < 5 * 100**0.5 for count in counts.values())


def test_every_relation_occurs() -> None:
    met = {
        name
        for each in MANY["train"]
        for a in range(len(each.things))
        for b in range(len(each.things))
        for name in relations(each, a, b)
    }
    assert met == set(RELATIONS)


def test_each_kind_lacks_one_colour_and_each_colour_one_kind() -> None:
    assert len(HELD_OUT_PAIRS) == 8
    assert {colour for colour, _ in HELD_OUT_PAIRS} == set(COLOURS)
    assert {kind for _, kind in HELD_OUT_PAIRS} == set(KINDS)


@pytest.mark.parametrize("split", ["train", "test", "rearranged"])
def test_held_out_pairs_never_leak(split: str) -> None:
    assert not pairs(MANY[split]).keys() & HELD_OUT_PAIRS
    assert len(pairs(MANY[split])) == 64 - 8


def test_every_novel_scene_has_exactly_one_held_out_pair() -> None:
    assert all(sum(pairs([each])[pair] for pair in HELD_OUT_PAIRS) == 1 for each in MANY["novel"])
    assert pairs(MANY["novel"]).keys() >= HELD_OUT_PAIRS


@pytest.mark.parametrize("split", ["train", "test", "novel"])
def test_held_out_orders_never_leak(split: str) -> None:
    assert not any(orders(each) & HELD_OUT_ORDERS for each in MANY[split])


def test_every_rearranged_scene_shows_a_held_out_order() -> None:
    assert all(orders(each) & HELD_OUT_ORDERS for each in MANY["rearranged"])
    assert min(len(each.things) for each in MANY["rearranged"]) == 2


def test_splits_share_no_scene() -> None:
    every = [each.things for split in SPLITS for each in MANY[split]]
    assert len(set(every)) == len(every)


def test_things_hang_wholly_in_the_picture_at_depths_of_their_own() -> None:
    for each in MANY["train"]:
        assert all(t.size <= t.x <= 1 - t.size and t.size <= t.y <= 1 - t.size for t in each.things)
        assert len({thing.depth for thing in each.things}) == len(each.things)


def test_six_big_things_find_a_place() -> None:
    big = [Thing("disc", "red", 0.205, "plain", 0.5, 0.5, 0.0, depth) for depth in DEPTHS[:6]]
    for index in range(5):
        assert len(placed(Chance(0, "crowd", index), big, lambda _: True)) == 6


def test_the_card_says_what_the_view_is() -> None:
    card = scenes(seed=5, split="novel", things=(2, 3), count=100).card()
    assert card["seed"] == 5
    assert card["count"] == 100
    assert card["things"] == [2, 3]
    assert "held-out pair" in str(card["split rule"])
    assert card["held-out pairs"] == sorted(f"{colour} {kind}" for colour, kind in HELD_OUT_PAIRS)
    assert scenes().card()["count"] == "infinite"


def test_errors_say_what_would_be_possible() -> None:
    with pytest.raises(ValueError, match="20 things do not make a train scene; ask for 1 to 6"):
        scenes(things=20)
    with pytest.raises(ValueError, match="ask for 1 to 6"):
        scene(0, 0, things=(0, 3))
    with pytest.raises(ValueError, match="1 things do not make a rearranged scene; ask for 2 to 6"):
        scenes(split="rearranged", things=1)
    with pytest.raises(ValueError, match="no split is called 'valid'; choose train, test, novel, rearranged"):
        scenes(split="valid")
    with pytest.raises(ValueError, match="worker 2 is not among 2; workers are numbered from 0 to 1"):
        scenes().part(2, 2)
    with pytest.raises(IndexError, match="numbered from 0"):
        scene(0, -1)
    with pytest.raises(ValueError, match="cannot be counted from the end"):
        scenes()[:-1]
