"""Meanings, their words in four languages, and the views of them."""

import pickle
import subprocess
import sys
from itertools import islice, permutations

import numpy as np
import pytest

from regard.world.language import (
    GAP,
    LANGUAGES,
    Clause,
    Compound,
    Entity,
    Pair,
    Place,
    Pronoun,
    Sentence,
    bracket,
    episodes,
    leaves,
    pair,
    pairs,
    parse,
    reports,
    say,
    senses,
    sentences,
    stories,
    text,
    tree,
    trees,
    vocabulary,
)
from regard.world.language.concepts import KIND, VERBS
from regard.world.language.lexicon import czech, english, german, italian
from regard.world.language.meaning import fold, inner_folds

WAYS = list(permutations(LANGUAGES, 2))


def linked(found: Pair) -> set[tuple[str, str]]:
    return {(found.source[i], found.target[j]) for i, j in found.alignment}


def test_a_dropped_pronoun_is_aligned_with_the_verb_that_carries_the_person() -> None:
    meaning = Sentence(Clause("eat", Pronoun(1), Pronoun(3, like="apple"), progressive=True))
    found = linked(pair(meaning, "en", "it"))
    assert {("I", "sto"), ("am", "sto"), ("eating", "mangiando"), ("it", "la")} <= found
    assert ("I", "mangiando") not in found


def test_an_article_is_aligned_with_the_noun_where_there_are_no_articles() -> None:
    found = linked(pair(Sentence(Clause("sleep", Entity("cat"))), "en", "cs"))
    assert found == {("the", "kočka"), ("cat", "kočka"), ("sleeps", "spí"), (".", ".")}


def test_an_article_is_aligned_with_the_preposition_that_swallowed_it() -> None:
    meaning = Sentence(Clause("be", Entity("book", owner=Entity("friend")), quality="new"))
    found = linked(pair(meaning, "de", "it"))
    assert {("des", "dell'"), ("Freundes", "amico"), ("das", "il"), ("Buch", "libro")} <= found


def test_helping_verbs_are_aligned_with_each_other_and_with_a_verb_that_needs_none() -> None:
    meaning = Sentence(Clause("buy", Entity("man"), Entity("hat"), tense="past"))
    assert {("hat", "ha"), ("gekauft", "comprato")} <= linked(pair(meaning, "de", "it"))
    assert {("bought", "hat"), ("bought", "gekauft")} <= linked(pair(meaning, "en", "de"))


def test_text_is_written_as_people_write_it() -> None:
    assert text(["l'", "amico", "dell'", "orso", ",", "un'", "anatra", "?"]) == "L'amico dell'orso, un'anatra?"
    assert text(["the", "kings", "'", "dog", "and", "Anna", "'s", "cat", "."]) == "The kings' dog and Anna's cat."


def test_every_concept_has_a_word_in_every_language() -> None:
    for lexicon in (english, german, italian):
        assert set(lexicon.NOUNS) == set(KIND)
    assert set(czech.NOUNS) | set(czech.IRREGULAR) == set(KIND)
    for verbs in (english.VERBS, german.VERBS, italian.VERBS, czech.VERBS):
        assert set(verbs) == set(VERBS)
    assert len(VERBS) >= 20
    assert set(german.ADJECTIVES) == set(czech.ADJECTIVES) == set(italian.ADJECTIVES) | set(italian.PATTERNS)
    assert set(english.RELATIONS) == set(german.RELATIONS) == set(italian.RELATIONS) == set(czech.RELATIONS)


def test_no_two_nouns_and_no_two_verbs_share_a_word() -> None:
    """Otherwise a sentence of the test could be one of training in some language."""
    for lexicon in (english, german, italian):
        assert len({row[0] for row in lexicon.NOUNS.values()}) == len(lexicon.NOUNS)
    for verbs in (english.VERBS, german.VERBS, italian.VERBS, czech.VERBS):
        assert len({row[0] for row in verbs.values()}) == len(verbs)
    lemmas = [row[0] for row in czech.NOUNS.values()] + [row[2].split()[0] for row in czech.IRREGULAR.values()]
    assert len(set(lemmas)) == len(KIND)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_four_hundred_words_and_uses_no_others(language: str) -> None:
    assert len(vocabulary(language)) >= 400
    said = {word for sentence in sentences(language, length=(3, 30))[:600] for word in sentence.words}
    assert said <= vocabulary(language)
    assert len(said) >= 250


@pytest.mark.parametrize(("source", "target"), WAYS)
def test_every_ordered_pair_of_languages_has_a_view(source: str, target: str) -> None:
    found = pairs(source, target, seed=1)[7]
    assert text(found.source) == say(found.meaning, source)
    assert text(found.target) == say(found.meaning, target)


def test_item_seven_means_the_same_in_every_language() -> None:
    assert len({sentences(language, seed=3)[7].meaning for language in LANGUAGES}) == 1


def test_an_item_is_the_same_in_another_process() -> None:
    code = """
from regard.world.language import pairs, stories
for item in pairs("it", "cs", seed=5)[:20]:
    print(item.source, item.target, sorted(item.alignment))
print(stories("de", seed=5)[3])
"""
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8"},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    here = pairs("it", "cs", seed=5)[19]
    assert f"{here.source} {here.target} {sorted(here.alignment)}" in said.pop()


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_the_parts_of_workers_are_the_whole_without_overlap(workers: int) -> None:
    view = pairs("de", "en", seed=2, count=40)
    parts = [list(view.part(worker, workers)) for worker in range(workers)]
    assert sum(map(len, parts)) == 40
    woven = [parts[i % workers][i // workers] for i in range(40)]
    assert woven == list(view)


def test_a_part_of_a_part_and_a_slice_count_on() -> None:
    view = sentences("cs", seed=1)
    assert view.part(1, 2).part(1, 3)[4] == view[1 + 2 * (1 + 3 * 4)]
    assert view[10:20:3][2] == view[16]
    assert list(view[4:7]) == [view[4], view[5], view[6]]
    assert len(view[4:7]) == 3
    assert view[:5][-1] == view[4]


def test_a_view_travels_to_another_process() -> None:
    for view in (pairs("it", "en"), stories("de"), senses(), reports(), episodes(), trees()):
        assert pickle.loads(pickle.dumps(view))[3] == view[3]


@pytest.mark.parametrize("length", [(3, 3), (3, 5), (6, 12), (20, 30), (60, 70), 40])
def test_the_dial_counts_english_words(length: int | tuple[int, int]) -> None:
    low, high = (length, length) if isinstance(length, int) else length
    for sentence in sentences("en", length=length)[:12]:
        counted = sum(word not in (".", ",", "?", "'s", "'") for word in sentence.words)
        assert low <= counted <= high


def test_the_dial_reaches_all_lengths_between_its_ends() -> None:
    sizes = {
        sum(word not in (".", ",", "?", "'s", "'") for word in sentence.words)
        for sentence in sentences("en", length=(6, 12))[:150]
    }
    assert sizes == set(range(6, 13))


@pytest.mark.parametrize("language", LANGUAGES)
def test_train_and_test_share_no_sentence(language: str) -> None:
    train = {s.words for s in sentences(language, length=(3, 6))[:600]}
    test = {s.words for s in sentences(language, length=(3, 6), split="test")[:300]}
    assert not train & test
    assert all(fold(s.meaning) == 0 for s in sentences(language, split="test")[:200])
    assert all(fold(s.meaning) != 0 for s in sentences(language)[:200])


def test_train_and_test_of_the_others_share_nothing() -> None:
    for view in (senses, reports, episodes):
        assert not set(view()[:500]) & set(view(split="test")[:200])
    told = {story.sentences[:1] for story in stories("en")[:100]}
    assert not told & {story.sentences[:1] for story in stories("en", split="test")[:50]}


def test_seeds_differ() -> None:
    assert [s.words for s in sentences("en", seed=1)[:20]] != [s.words for s in sentences("en", seed=2)[:20]]


def test_most_sentences_are_new() -> None:
    assert len({s.words for s in sentences("en")[:500]}) > 490


def test_a_tree_derives_its_sentence_and_survives_its_brackets() -> None:
    for parsed in trees(length=(3, 40))[:100]:
        assert leaves(parsed.tree) == parsed.words
        assert parse(bracket(parsed.tree)) == parsed.tree


def test_a_tree_is_what_a_linguist_would_draw() -> None:
    meaning = Sentence(Clause("see", Entity("dog", adjectives=("big",)), Entity("cat"), tense="future"))
    assert bracket(tree(meaning)) == (
        "(S (NP (DT the) (JJ big) (NN dog)) (VP (MD will) (VP (VB see) (NP (DT the) (NN cat)))) (. .))"
    )
    asked = Sentence(Clause("sleep", Entity("cat")), True)
    assert bracket(tree(asked)) == "(SQ (VBZ does) (NP (DT the) (NN cat)) (VP (VB sleep)) (. ?))"


@pytest.mark.parametrize(
    ("brackets", "complaint"),
    [
        ("(S (NP", "stay open"),
        ("S", "begin with a bracket"),
        ("(S a) b", "follows the end"),
        ("(S ())", "closes nothing"),
    ],
)
def test_broken_brackets_are_named(brackets: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse(brackets)


def test_a_card_says_what_a_result_was_made_of() -> None:
    card = pairs("it", "en", seed=4, count=100).card()
    assert card["name"] == "regard.world pairs it-en"
    assert (card["seed"], card["count"], card["version"], card["length"]) == (4, 100, 1, [6, 12])
    assert card["vocabulary"] == [len(vocabulary("it")), len(vocabulary("en"))]
    assert "fold" in str(card["split rule"])
    assert stories().card()["count"] == "infinite"


def test_an_unknown_language_is_answered_with_the_four() -> None:
    with pytest.raises(ValueError, match=r"'fr'.*en \(English\), de \(German\), it \(Italian\), cs \(Czech\)"):
        pairs("fr", "en")
    with pytest.raises(ValueError, match="two languages"):
        pairs("en", "en")


@pytest.mark.parametrize("length", [2, (2, 5), 10_000, (9, 6)])
def test_an_impossible_length_is_answered_with_the_possible(length: int | tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="3 to 120"):
        sentences("en", length=length)


def test_mistakes_in_meanings_and_views_are_named() -> None:
    with pytest.raises(ValueError, match="dragon"):
        say(Sentence(Clause("sleep", Entity("dragon"))), "de")
    for language in LANGUAGES:
        with pytest.raises(ValueError, match="cannot be counted"):
            say(Sentence(Clause("sleep", Entity("milk", 0))), language)
    with pytest.raises(ValueError, match="train, test"):
        sentences("en", split="dev")
    with pytest.raises(ValueError, match="worker 2 is not among 2"):
        sentences("en").part(2, 2)
    with pytest.raises(IndexError, match="not among these 3"):
        sentences("en", count=3)[3]
    with pytest.raises(TypeError, match="no last one"):
        len(sentences("en"))
    with pytest.raises(IndexError, match="count from 0"):
        sentences("en")[-1]
    assert len(list(islice(sentences("en"), 3))) == 3


def test_no_clause_of_a_training_sentence_is_held_out() -> None:
    for spoken in sentences("en", seed=5, length=(6, 25))[:1500]:
        assert fold(spoken.meaning) != 0
        assert 0 not in inner_folds(spoken.meaning)
    assert all(fold(spoken.meaning) == 0 for spoken in sentences("en", seed=5, split="test")[:300])


HAND_TREES = (
    "(S (NP (DT the) (NN dog)) (VP (VBZ looks) (PP (IN for) (NP (DT the) (NN ball)))) (. .))",
    "(S (NP (DT the) (NN star)) (VP (VBZ is) (PP (TO to) "
    "(NP (NP (DT the) (NN left)) (PP (IN of) (NP (DT the) (NN ring)))))) (. .))",
    "(S (NP (DT the) (NN cat)) (VP (VBZ is) (PP (JJ next) (PP (TO to) (NP (DT the) (NN box))))) (. .))",
    "(S (NP (NN today)) (NP (PRP we)) (VP (VBP sleep)) (. .))",
    "(S (NP (NP (DT the) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBZ sleeps))))) (VP (VBZ is) (ADJP (JJ old))) (. .))",
    "(S (NP (DT the) (NN cook)) (VP (VBZ knows) (SBAR (IN that) (S (NP (DT the) (NN dog)) (VP (VBZ sleeps))))) (. .))",
    "(S (S (S (NP (NNP Anna)) (VP (VBZ sleeps))) (SBAR (IN because) (S (NP (NNP Eva)) (VP (VBZ sings))))) "
    "(, ,) (CC but) (S (NP (NNP Paul)) (VP (VBZ works))) (. .))",
    "(S (NP (DT the) (NN king)) (VP (VBZ gives) (NP (DT the) (NN queen)) (NP (DT a) (NN cup))) (. .))",
)
HAND_MEANINGS = (
    Clause("look-for", Entity("dog"), Entity("ball")),
    Clause("be", Entity("star"), place=Place("left of", Entity("ring"))),
    Clause("be", Entity("cat"), place=Place("next to", Entity("box"))),
    Clause("sleep", Pronoun(1, True), when="today"),
    Clause("be", Entity("man", relative=Clause("sleep", GAP)), quality="old"),
    Clause("know", Entity("cook"), content=Clause("sleep", Entity("dog"))),
    Compound(
        Clause("sleep", Entity("Anna")),
        "because",
        Compound(Clause("sing", Entity("Eva")), "but", Clause("work", Entity("Paul"))),
    ),
    Clause("give", Entity("king"), Entity("cup", definite=False), Entity("queen")),
)


@pytest.mark.parametrize(("meaning", "brackets"), list(zip(HAND_MEANINGS, HAND_TREES, strict=True)))
def test_trees_are_those_of_a_grammar_book(meaning: Clause | Compound, brackets: str) -> None:
    assert bracket(tree(Sentence(meaning))) == brackets


BY_EAR = (
    (Compound(Clause("sleep", Entity("dog")), "and", Clause("be", Entity("Eva"), quality="old")), "it", "ed Eva"),
    (Clause("have", Pronoun(1), Pronoun(like="book")), "it", "Ce l'ho."),
    (Clause("there", Entity("apple", 0, definite=False), negative=True), "it", "Non ci sono mele."),
)


@pytest.mark.parametrize(("meaning", "language", "heard"), BY_EAR)
def test_it_sounds_as_people_say_it(meaning: Clause | Compound, language: str, heard: str) -> None:
    assert heard in say(Sentence(meaning), language)


@pytest.mark.usefixtures("as_users_meet_it")
def test_a_number_of_numpys_is_a_number() -> None:
    three, seven = np.int64(3), np.int64(7)
    view = sentences("en", seed=3)
    assert view[seven] == view[7] == sentences("en", seed=three)[7]  # type: ignore[call-overload]
    assert view.part(np.int64(1), np.int64(2))[0] == view[1]
