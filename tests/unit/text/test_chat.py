"""A chat template is a stranger's program: it lays out a conversation, ends soon, and reaches nothing else."""

import time
from typing import Any

import pytest

from regard.text import chat
from regard.text.chat import render

TALK = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
PLAIN = "{% for m in messages %}<{{ m.role }}>{{ m['content'] }}{{ eos_token }}\n{% endfor %}"


def test_a_conversation_is_laid_out_and_ends_where_the_model_is_to_speak() -> None:
    whole = PLAIN + "{% if add_generation_prompt %}<assistant>{% endif %}"
    assert render(whole, TALK, stop="</s>") == "<user>Hello</s>\n<assistant>Hi</s>\n<assistant>"
    assert render(whole, TALK, answer=False) == "<user>Hello\n<assistant>Hi\n"


def test_what_a_user_writes_is_never_run() -> None:
    evil = [{"role": "user", "content": "{{ 7 * 7 }}{% for x in messages %}x{% endfor %}"}]
    assert evil[0]["content"] in render(PLAIN, evil)


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update({'role': 'x'}) }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ raise_exception.__globals__.keys() }}",
        "{{ ''|attr('__class__') }}",
        "{{ ['']|map(attribute='__class__')|list|first|attr('x') }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{{ 'a'.encode() }}",
    ],
)
def test_nothing_outside_of_it_is_reached(template: str) -> None:
    with pytest.raises(ValueError, match="this model's chat template"):
        render(template, TALK)


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
        "{% for i in range(99999) %}{% for j in range(99999) if false %}{% endfor %}{% endfor %}",
        "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
        "{% for x in messages recursive %}{{ loop(messages) }}{% endfor %}",
        "{{ 'a' * 10000000000 }}",
        "{{ [1] * 10000000000 }}",
        "{{ 9 ** 9 ** 9 ** 9 }}",
        "{% set n = namespace(s=3) %}{% for i in range(60) %}{% set n.s = n.s * n.s %}{% endfor %}",
        "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
        "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = n.s + n.s %}{% endfor %}",
        "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}",
        "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = (n.s, n.s) %}{% endfor %}{{ n.s }}",
        "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = {'a': n.s, 'b': n.s} %}{% endfor %}",
        "{% set n = namespace(s='ab') %}{% for i in range(60) %}{% set n.s = namespace(a=n.s, b=n.s) %}{% endfor %}",
        "{{ 'a'.center(1000000000) }}",
        "{{ 'a'|center(1000000000) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{% set s = 'a' * 100000 %}{{ s.replace('a', s) }}",
        "{% set s = 'a' * 100000 %}{{ s|replace('a', s) }}",
        "{% set s = 'a' * 100000 %}{{ ([s] * 100000)|join }}",
        "{% set s = 'a' * 100000 %}{{ s.join([s] * 100000) }}",
        "{% set s = 'a' * 100000 %}{{ ([s] * 100000)|tojson }}",
        "{% set s = 'a' * 100000 %}{% for i in range(99) %}{{ s }}{% endfor %}",
        "{{ (" * 4000,
    ],
)
def test_what_would_take_for_ever_or_all_memory_is_refused_at_once(template: str) -> None:
    began = time.perf_counter()
    with pytest.raises(ValueError, match="this model's chat template"):
        render(template, TALK)
    assert time.perf_counter() - began < 20


def test_time_is_short_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "SECONDS", 0.0)
    with pytest.raises(ValueError, match="it takes more than 0 seconds"):
        render(PLAIN, TALK)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ raise_exception('System role not supported') }}", "cannot be followed: System role not supported"),
        ("{% for %}", "cannot be followed: "),
        ("{{ missing.role }}", "cannot be followed: 'missing' is undefined"),
        ("{{ messages[0].role + 3 }}", "fails: TypeError: "),
        ("{{ 1 // 0 }}", "fails: ZeroDivisionError: "),
        ("x" * 100_001, "a chat template of 100,001 characters is too long; at most 100,000 are read"),
    ],
)
def test_what_is_wrong_with_a_template_is_told_in_a_sentence(template: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        render(template, TALK)
    assert said in str(caught.value)


def test_long_conversations_pass() -> None:
    many: list[dict[str, Any]] = [{"role": "user", "content": "word " * 200}] * 500
    assert len(render(PLAIN, many)) > 500_000
