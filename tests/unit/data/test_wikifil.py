"""A dump becomes words by the rules that made text8."""

from itertools import islice
from pathlib import Path

import pytest

from regard.data import DataError, wikifil
from regard.data.sets import SETS
from regard.data.stretch import Stretch

PAGE = """  <page>
    <title>Anarchism</title>
      <text xml:space="preserve">{{Anarchism}}
'''Anarchism''' originated in [[1840]] as a [[term of abuse|term]].&lt;ref&gt;a book&lt;/ref&gt;
[[Image:Pic.jpg|thumb|right|200px|A caption]] See [http://example.org/a the page] &amp;mdash; AT&amp;T;
{| class="x"
| cell
|}
[[Category:Ideas|*]] [[de:Anarchismus]]</text>
  </page>
"""


@pytest.mark.parametrize(
    ("markup", "said"),
    [
        ("The B-52 of 1,024", "the b five two of one zero two four"),
        ("[[term of abuse|term]] [[Athens]]", "term athens"),
        ("[[Image:Pic.jpg|thumb|200px|A caption]]", "a caption"),
        ("[[Category:Ideas|*]] [[de:Idee]]", "ideas"),
        ("[http://a.b/c?d shown] rest", "shown rest"),
        ("&lt;ref name=a&gt;book&lt;/ref&gt;kept&lt;br&gt;too", "kepttoo"),
        ("{{main|x}} a {| table |} b", "a b"),
        ("a &amp;mdash; b &quot;c&quot;", "a b c"),
        ("Zürich Ωmega ٣ \u212a", "z rich mega"),  # nothing but a–z: neither Arabic digits nor the Kelvin sign
        (" \n\t .,! ", ""),
    ],
)
def test_each_rule(markup: str, said: str) -> None:
    assert wikifil.words(markup) == said


def test_pages_are_lines_and_redirects_and_empty_ones_are_none() -> None:
    redirect = '<text xml:space="preserve">#REDIRECT [[Athens]]</text>'
    empty, none = '<text xml:space="preserve" />', "<text>...</text>"
    lines = (PAGE + "\n".join((redirect, empty, none)) + '\n<text xml:space="preserve">second page</text>').split("\n")
    first, second = wikifil.pages(lines)
    assert first == ("anarchism originated in one eight four zero as a term a caption see the page at ideas")
    assert second == "second page"


def test_a_page_that_never_ends_is_left_out() -> None:
    assert list(wikifil.pages(["<text>one</text>", "<text>two", "three"])) == ["one"]


@pytest.mark.usefixtures("published")
def test_enwik8_begins_as_text8_does() -> None:
    from regard.data.fetch import locate

    path = locate(SETS["enwik8"], SETS["enwik8"].files[0])
    assert path is not None
    first, second = islice(wikifil.pages(Stretch(path, 0, 600_000).lines()), 2)
    assert first.startswith(
        "anarchism originated as a term of abuse first used against early working class radicals including the diggers "
        "of the english revolution and the sans culottes of the french revolution"
    )
    assert set(first) == set("abcdefghijklmnopqrstuvwxyz ")
    assert "  " not in first + second


def test_the_cleaned_text_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    dump = tmp_path / "dump"
    dump.write_text(PAGE)
    monkeypatch.setattr(wikifil, "get", lambda _: [dump])
    monkeypatch.setattr(wikifil, "BYTES", dump.stat().st_size)
    told: list[float] = []
    path = wikifil.enwik8(told.append)
    assert path.read_text().startswith("anarchism originated in")
    assert told[-1] == 1.0
    dump.unlink()
    assert wikifil.enwik8() == path
    path.unlink()
    dump.write_bytes(b"<text>cut")
    with pytest.raises(DataError, match=r"ends .* bytes early"):
        wikifil.enwik8()
    assert not path.exists()
