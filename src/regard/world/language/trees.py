"""The trees of English sentences, and their bracketed form: (S (NP (DT the) (NN dog)) (VP (VBZ sleeps)) (. .))."""

from typing import NamedTuple

from regard.world.language.english import spell
from regard.world.language.meaning import Compound, Sentence


class Tree(NamedTuple):
    """A phrase with its parts; the parts of a tag are one word."""

    label: str
    children: tuple["Tree | str", ...]


def tree(meaning: Sentence) -> Tree:
    """The constituents of the English sentence of a meaning."""
    tokens, spans = spell(meaning)
    if type(meaning.body) is not Compound:
        spans = spans[:-1]  # the only clause is the root itself
    nodes = [(0, len(tokens), "SQ" if meaning.question else "S"), *reversed(spans)]
    # Sorting is stable: of two phrases over the same words, the one finished later comes first and is the outer one.
    nodes.sort(key=lambda node: (node[0], -node[1]))
    nodes = [node for node in nodes if node[0] < node[1]]
    grown, _ = _grow(nodes, 0, [Tree(token[2], (token[0],)) for token in tokens])
    return grown


def _grow(nodes: list[tuple[int, int, str]], at: int, leaves: list[Tree]) -> tuple[Tree, int]:
    """The tree of the phrase at a place in the list, and the place behind its last part."""
    place, end, label = nodes[at]
    children: list[Tree | str] = []
    at += 1
    while place < end:
        if at < len(nodes) and nodes[at][0] == place and nodes[at][1] <= end:
            place = nodes[at][1]
            child, at = _grow(nodes, at, leaves)
            children.append(child)
        else:
            children.append(leaves[place])
            place += 1
    return Tree(label, tuple(children)), at


def bracket(whole: Tree) -> str:
    """A tree as brackets."""
    inside = " ".join(child if isinstance(child, str) else bracket(child) for child in whole.children)
    return f"({whole.label} {inside})"


def parse(brackets: str) -> Tree:
    """Brackets as a tree."""
    stack: list[tuple[str, list[Tree | str]]] = []
    parts = brackets.replace("(", " ( ").replace(")", " ) ").split()
    for i, part in enumerate(parts):
        if part == "(":
            stack.append(("", []))
        elif part == ")":
            if not stack or not stack[-1][0]:
                raise ValueError(f"bracket {i + 1} of {brackets!r} closes nothing; every phrase is written (LABEL …)")
            label, children = stack.pop()
            done = Tree(label, tuple(children))
            if not stack:
                if i + 1 < len(parts):
                    raise ValueError(f"{' '.join(parts[i + 1 :])!r} follows the end of the tree; write one tree")
                return done
            stack[-1][1].append(done)
        elif not stack:
            raise ValueError(f"{brackets!r} does not begin with a bracket; a tree is written (LABEL …)")
        elif not stack[-1][0]:
            stack[-1] = (part, stack[-1][1])
        else:
            stack[-1][1].append(part)
    raise ValueError(f"{len(stack)} brackets of {brackets!r} stay open; close each phrase")


def leaves(whole: Tree) -> tuple[str, ...]:
    """The words of a tree, from left to right."""
    found: list[str] = []
    for child in whole.children:
        found.extend((child,) if isinstance(child, str) else leaves(child))
    return tuple(found)
