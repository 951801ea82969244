"""Treebanks: trees in brackets come in as they are written, and trees without words find their words again."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import DataError, brackets, grow, skeleton, treebank
from regard.world.language import Tree, bracket, leaves, parse, trees

PENN = """
( (S
    (NP-SBJ-1 (DT The) (NN dog) )
    (VP (VBZ seems)
      (S (NP-SBJ (-NONE- *-1) )
        (VP (TO to) (VP (VB sleep) ))))
    (. .) ))
(FRAG (INTJ (UH Yes)) (-LRB- -LRB-) (-RRB- -RRB-))
"""


def test_a_tree_may_take_several_lines_and_what_is_not_said_is_left_out(tmp_path: Path) -> None:
    for name, content in (("a.mrg", PENN.encode()), ("a.mrg.gz", gzip.compress(PENN.encode()))):
        (tmp_path / name).write_bytes(content)
        assert [bracket(tree) for tree in brackets(tmp_path / name)] == [
            "(S (NP (DT The) (NN dog)) (VP (VBZ seems) (S (VP (TO to) (VP (VB sleep))))) (. .))",
            "(FRAG (INTJ (UH Yes)) (-LRB- -LRB-) (-RRB- -RRB-))",
        ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("(S (NN a))\n(S (NN b)", "the tree of line 2 never ends; close each phrase"),
        ("(S (NN a)))", r"line 1: '\)' stands outside of all brackets"),
        ("hello", "line 1: 'hello' stands outside of all brackets"),
        ("(S ())", "line 1: bracket 4 of .* closes nothing"),
    ],
)
def test_a_broken_treebank_says_where(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.mrg").write_text(content)
    with pytest.raises(DataError, match=message):
        list(brackets(tmp_path / "bad.mrg"))


def test_a_folder_has_a_file_for_each_split(tmp_path: Path) -> None:
    (tmp_path / "train.mrg").write_text("(S (NN a))")
    (tmp_path / "val.txt").write_text("(S (NN b))")
    assert treebank(tmp_path, "train") == [parse("(S (NN a))")]
    assert treebank(tmp_path, "val") == [parse("(S (NN b))")]
    with pytest.raises(DataError, match=r"has 0 files called test; put one there, say test\.mrg"):
        treebank(tmp_path, "test")
    with pytest.raises(DataError, match="no treebank lies at"):
        treebank(tmp_path / "none", "train")
    with pytest.raises(ValueError, match="no split is called 'dev'; choose train, val, test"):
        treebank(tmp_path, "dev")


def test_one_file_is_divided_and_no_sentence_is_in_two_parts(tmp_path: Path) -> None:
    whole = [each.tree for each in trees()[:300]]
    (tmp_path / "all.mrg").write_text("\n".join(map(bracket, whole + whole[:50])))
    parts = {split: treebank(tmp_path / "all.mrg", split) for split in ("train", "val", "test")}
    assert sum(map(len, parts.values())) == 350
    assert len(parts["train"]) > 280
    assert parts["val"]
    assert parts["test"]
    said = {split: {leaves(tree) for tree in part} for split, part in parts.items()}
    assert not said["train"] & (said["val"] | said["test"])


@given(index=st.integers(0, 10**6))
def test_a_tree_grows_again_from_its_skeleton_and_its_words(index: int) -> None:
    tree = trees(length=(3, 40))[index].tree
    assert grow(skeleton(tree), leaves(tree)) == tree


def test_a_skeleton_has_tags_for_words() -> None:
    tree = parse("(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)) (. .))")
    assert skeleton(tree) == "(S (NP DT NN ) (VP VBZ ) . )"


@pytest.mark.parametrize(
    ("written", "mended"),
    [
        ("(S (NP DT NN (VP VBZ", "(S (NP (DT the) (NN dog) (VP (VBZ sleeps))))"),  # what is open is closed
        ("(S (NP DT NN ) ) (VP VBZ )", "(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)))"),  # closed too early
        ("(S (NP DT ) )", "(S (NP (DT the)) (XX dog) (XX sleeps))"),  # words without a tag
        ("(S DT (NP NN VBZ . NN ) (VP VB ) )", "(S (DT the) (NP (NN dog) (VBZ sleeps)))"),  # tags without a word
        ("DT (NP NN VBZ )", "(XX (DT the) (NP (NN dog) (VBZ sleeps)))"),  # no root
        ("", "(XX (XX the) (XX dog) (XX sleeps))"),
    ],
)
def test_a_line_that_is_no_tree_is_mended(written: str, mended: str) -> None:
    assert grow(written, ("the", "dog", "sleeps")) == parse(mended)


@given(parts=st.lists(st.sampled_from(["(S", "(NP", "(", ")", "NN", "DT", "("]), max_size=20), count=st.integers(1, 6))
def test_whatever_is_written_all_the_words_are_in_the_tree(parts: list[str], count: int) -> None:
    words = tuple(f"w{i}" for i in range(count))
    grown = grow(" ".join(parts), words)
    assert leaves(grown) == words
    assert all(tree.children for tree in _all(grown))


def _all(tree: Tree) -> list[Tree]:
    return [tree, *(below for child in tree.children if isinstance(child, Tree) for below in _all(child))]
