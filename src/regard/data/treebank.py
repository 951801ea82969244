"""Sentences with their trees: of the little world, or of a treebank you have, in the brackets of the Penn treebank.

A tree can also be written without its words, as a line that a model writes beside the sentence (Vinyals 2015): each
word is its tag. `grow` turns such a line into a tree over the sentence, whatever a model has written.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.errors import DataError
from regard.data.rows import SPLITS, belongs, lines
from regard.world.language import Tree, leaves, parse

EMPTY = "-NONE-"  # the tag of what is not said
UNTAGGED = "XX"
DEEPEST = 200  # brackets within brackets


def treebank(path: str | Path, split: str) -> list[Tree]:
    """The trees of a split: of a folder with train.mrg, val.mrg and test.mrg, or of one file, which is divided.

    The endings do not matter, .gz is unpacked; a file is divided by its sentences, so that none is in two splits.
    """
    path = Path(path)
    if split not in SPLITS:
        raise ValueError(f"no split is called {split!r}; choose {', '.join(SPLITS)}")
    if path.is_dir():
        found = [each for each in sorted(path.iterdir()) if each.is_file() and each.name.partition(".")[0] == split]
        if len(found) != 1:
            raise DataError(f"{path} has {len(found)} files called {split}; put one there, say {split}.mrg")
        return list(brackets(found[0]))
    if not path.is_file():
        raise DataError(f"no treebank lies at {path}; give a file of bracketed trees, or a folder with train and val")
    return [tree for tree in brackets(path) if belongs(" ".join(leaves(tree))) == split]


def brackets(path: Path) -> Iterator[Tree]:
    """The trees of a file, each on one line or on several; what is not said, and functions such as -SBJ, are left out.

    A bracket without a label around a tree, as the Penn treebank has it, is taken off.
    """
    depth, first, parts = 0, 0, list[str]()
    for number, line in enumerate(lines(path), start=1):
        for part in line.replace("(", " ( ").replace(")", " ) ").split():
            if depth == 0 and part != "(":
                raise DataError(f"{path}, line {number}: {part!r} stands outside of all brackets; write (LABEL …)")
            first = first if depth else number
            parts.append(part)
            depth += {"(": 1, ")": -1}.get(part, 0)
            if depth > DEEPEST:
                raise DataError(f"{path}: the tree of line {first} is deeper than {DEEPEST} brackets; close some")
            if depth == 0:
                tree = _tree(parts, path, first)
                if tree is not None:
                    yield tree
                parts = []
    if depth:
        raise DataError(f"{path}: the tree of line {first} never ends; close each phrase")


def skeleton(tree: Tree) -> str:
    """A tree without its words: (S (NP DT NN ) (VP VBZ ) . )."""
    if _is_tag(tree):
        return tree.label
    inside = " ".join(UNTAGGED if isinstance(child, str) else skeleton(child) for child in tree.children)
    return f"({tree.label} {inside} )"


def grow(written: str, words: Sequence[str]) -> Tree:
    """The tree over some words that a line describes. It has all the words in their order, also if the line is wrong.

    Tags without a word and phrases without words are left out, words without a tag hang on the root, and so does what
    follows a root that was closed too early; what stays open is closed at the end.
    """
    stack: list[tuple[str, list[Tree | str]]] = []
    place = 0
    for part in written.split():
        if part.startswith("(") and len(part) > 1:
            stack.append((part[1:], []))
        elif part == ")":
            if len(stack) > 1:
                _close(stack)
        elif place < len(words):
            if not stack:
                stack.append((UNTAGGED, []))
            stack[-1][1].append(Tree(part, (words[place],)))
            place += 1
    while len(stack) > 1:
        _close(stack)
    label, children = stack[0] if stack else (UNTAGGED, [])
    return Tree(label, (*children, *(Tree(UNTAGGED, (word,)) for word in words[place:])))


def _close(stack: list[tuple[str, list[Tree | str]]]) -> None:
    label, children = stack.pop()
    if children:
        stack[-1][1].append(Tree(label, tuple(children)))


def _tree(parts: list[str], path: Path, line: int) -> Tree | None:
    if parts[1] == "(" and parts[-2:] == [")", ")"]:
        parts = parts[1:-1]
    try:
        return _bare(parse(" ".join(parts)))
    except ValueError as error:
        raise DataError(f"{path}, line {line}: {str(error)[:400]}") from None


def _bare(tree: Tree) -> Tree | None:
    """A tree of what is said, with plain labels; None where nothing is."""
    if tree.label == EMPTY:
        return None
    if _is_tag(tree):
        return tree
    children = (child if isinstance(child, str) else _bare(child) for child in tree.children)
    said = tuple(child for child in children if child is not None)
    return Tree(_plain(tree.label), said) if said else None


def _plain(label: str) -> str:
    """NP of NP-SBJ-1 and of NP=2; a label that begins with the mark, such as -LRB-, is whole."""
    cuts = [place for mark in "-=|" if (place := label.find(mark)) > 0]
    return label[: min(cuts)] if cuts else label


def _is_tag(tree: Tree) -> bool:
    return len(tree.children) == 1 and isinstance(tree.children[0], str)
