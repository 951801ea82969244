"""Picture episodes, dialogues and talks say what is true of their scenes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.interleaved import lay_out, talk_parts
from regard.data.talked import NAMING, SHARES, SHOTS, told, world_talk, world_talks
from regard.text import Tokenizer
from regard.world import COLOURS, KINDS, relations
from regard.world.build import HELD_OUT_PAIRS
from regard.world.language import dialogues, picture_episodes, text
from regard.world.language.dialogues import DIRECTIONS, NOTHING
from regard.world.language.episodes import FOLDS, MEANINGS
from regard.world.language.questions import NEW

numbers = st.integers(0, 10**6)
splits = st.sampled_from(("train", "test"))


@settings(max_examples=15, deadline=None)
@given(numbers, splits, st.sampled_from((2, 3, 4)))
def test_every_shot_and_the_query_are_what_they_are_called_and_nothing_else(number: int, split: str, ways: int) -> None:
    one = picture_episodes(split=split, ways=ways)[number]
    meant = dict(zip(one.words, one.meanings, strict=True))
    assert len(meant) == len(set(one.meanings)) == ways
    for scene, word in (*one.shots, (one.query, one.answer)):
        (thing,) = scene.things
        assert [each for each, meaning in meant.items() if meaning.fits(thing)] == [word]
        assert (thing.colour, thing.kind) not in HELD_OUT_PAIRS
        assert thing.size <= min(thing.x, thing.y, 1 - thing.x, 1 - thing.y)  # nothing is cut off
    assert {shot.word for shot in one.shots[:ways]} == set(one.words)  # each is shown once before any is shown again


@settings(max_examples=15, deadline=None)
@given(numbers, splits)
def test_words_and_meanings_that_meet_in_the_test_never_do_so_in_training(number: int, split: str) -> None:
    one = picture_episodes(split=split)[number]
    for word, meaning in zip(one.words, one.meanings, strict=True):
        held = (NEW.index(word) + MEANINGS.index(tuple(meaning))) % FOLDS == 0
        assert held == (split == "test")


@settings(max_examples=10, deadline=None)
@given(numbers, st.integers(0, 8))
def test_few_shots_begin_as_many_do(number: int, shots: int) -> None:
    few, many = picture_episodes(shots=shots)[number], picture_episodes()[number]
    assert few.shots == many.shots[:shots]
    assert (few.query, few.answer) == (many.query, many.answer)


def test_no_word_says_by_itself_what_it_means() -> None:
    some = picture_episodes()[:150]
    for word in NEW[:4]:
        meanings = {
            meaning for one in some for each, meaning in zip(one.words, one.meanings, strict=True) if each == word
        }
        assert len(meanings) > 8
    answers = [one.words.index(one.answer) for one in some]
    assert 0.4 < sum(answers) / len(answers) < 0.6


def test_one_shot_of_each_word_is_often_not_enough() -> None:
    """The nearest shot by what it shares with the query: right after eight, and often wrong after two."""

    def nearest(shots: int) -> float:
        right = 0.0
        for one in picture_episodes(shots=shots)[:150]:
            asked = one.query.things[0]
            votes = dict.fromkeys(one.words, 0.0)
            for word in one.words:
                own = [shot.scene.things[0] for shot in one.shots if shot.word == word]
                for name in ("kind", "colour"):
                    alike = [getattr(thing, name) == getattr(asked, name) for thing in own]
                    votes[word] += all(alike) * bool(own)
            best = max(votes.values())
            tied = [word for word in one.words if votes[word] == best]
            right += (one.answer in tied) / len(tied)
        return right / 150

    two, eight = nearest(2), nearest(8)
    assert two < 0.92
    assert eight > 0.97


@pytest.mark.parametrize(("shots", "ways"), [(9, 2), (-1, 2), (4, 1), (4, 5)])
def test_an_episode_that_cannot_be_is_refused(shots: int, ways: int) -> None:
    with pytest.raises(ValueError, match="make no episode; give 0 to 8 shots, and 2 to 4 words"):
        picture_episodes(shots=shots, ways=ways)


@settings(max_examples=25, deadline=None)
@given(numbers, st.sampled_from(("train", "test", "novel")))
def test_every_turn_of_a_dialogue_is_true_of_its_scene(number: int, split: str) -> None:
    scene, turns = dialogues(split=split)[number]
    assert 1 <= len(turns) <= 4
    assert "it" not in turns[0].words
    assert len({(turn.about, turn.words) for turn in turns}) == len(turns)  # nothing is asked twice
    for before, turn in zip((None, *turns[:-1]), turns, strict=True):
        thing = scene.things[turn.about]
        if before is not None:
            assert turn.about == before.then
            assert "it" in turn.words
        if turn.topic == "colour":
            assert turn.answer == thing.colour
        elif turn.topic == "size":
            assert turn.answer == thing.scale
        elif turn.topic == "fill":
            assert turn.answer == ("yes" if thing.fill in turn.words else "no")
        else:
            (name,) = (name for name in DIRECTIONS if f" {name} " in " ".join(turn.words))
            so = [i for i in range(len(scene.things)) if name in relations(scene, i, turn.about)]
            assert so == ([] if turn.answer == NOTHING else [turn.then])
            assert turn.answer == NOTHING or turn.answer == scene.things[turn.then].kind


def test_answers_of_dialogues_cannot_be_guessed() -> None:
    turns = [turn for each in dialogues(things=(2, 4))[:150] for turn in each.turns]
    for topic, most in (("colour", 0.25), ("size", 0.45), ("fill", 0.6), ("place", 0.7)):
        answers = [turn.answer for turn in turns if turn.topic == topic]
        assert max(answers.count(each) for each in set(answers)) / len(answers) < most


def test_views_are_the_same_whoever_asks_first() -> None:
    assert picture_episodes(seed=3)[5] == list(picture_episodes(seed=3)[:6])[5]
    assert picture_episodes(seed=3)[5] != picture_episodes(seed=4)[5]
    assert dialogues(seed=3)[5] == list(dialogues(seed=3)[:6])[5]
    with pytest.raises(ValueError, match="0 turns make no dialogue"):
        dialogues(turns=0)
    assert picture_episodes(split="test", shots=2).card()["split"] == "test"


@pytest.mark.parametrize("kind", SHARES)
def test_a_talk_is_laid_out_with_its_pictures_and_what_is_learnt(kind: str) -> None:
    tokenizer = Tokenizer.train(world_talks("train", 300), kind="words", vocab=400, lower=True)
    for number in range(20):
        talk = world_talk("train", number, kind)
        row = lay_out(tokenizer, talk_parts(talk))
        assert row.pictures == len(talk.scenes)
        assert tokenizer.unknown not in row.ids
        said = [tokenizer.decode([i]) for i, learnt in zip(row.ids, row.learnt, strict=True) if learnt]
        wanted = " ".join(f"{piece.answer}." for piece in talk.pieces if piece.learnt)
        assert " ".join(said) == " ".join(wanted.replace(".", " .").replace(",", " ,").split())
        asking = lay_out(tokenizer, talk_parts(talk, asking=True))
        assert row.ids[: len(asking.ids)] == asking.ids
        first = row.shown.index(True)
        assert tokenizer.decode([row.ids[first]]) == talk.pieces[0].text.split()[0].lower()


def test_of_an_episode_only_words_are_learnt_that_were_said_before() -> None:
    for number in range(30):
        said: list[str] = []
        for piece in world_talk("train", number, "episode").pieces:
            assert piece.text == NAMING
            assert piece.learnt == (piece.answer in said)
            said.append(piece.answer)
    assert not world_talk("train", 0, "episode", shots=SHOTS[0]).pieces[-1].learnt


def test_a_told_talk_says_in_words_what_a_picture_shows() -> None:
    for number in range(20):
        talk = world_talk("train", number, "episode", shots=2)
        line = told(talk)
        for scene in talk.scenes:
            assert scene.things[0].kind in line
            assert scene.things[0].colour in line
        assert line.endswith(f"{talk.pieces[-1].answer}.")
    assert world_talks("val", 3) != world_talks("train", 3) != world_talks("test", 3)
    assert set(KINDS) | set(COLOURS) <= {
        word.strip(".,?") for line in world_talks("train", 200) for word in line.split()
    }
    assert text(("this", "is")) == "This is"
    with pytest.raises(ValueError, match="no talk is of the kind 'song'"):
        world_talk("train", 0, "song")
