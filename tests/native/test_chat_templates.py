"""Rendering chats: the file's template, overrides, ChatML, and everything that can be wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llamaint import _native
from tests.support import tiny_models

HELLO = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
CHATML = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
# Tool calls as Hermes and Qwen write them.
HERMES = """{% if tools %}<|im_start|>system
Tools: {{ tools | tojson }}<|im_end|>
{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% if m.tool_calls %}{% for c in m.tool_calls %}<tool_call>
{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}
</tool_call>{% endfor %}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> _native.Model:
    return _native.Model.load(str(tiny_llama), _native.ModelParams())


def render(templates: _native.ChatTemplates, messages: object = HELLO, **options: object) -> _native.RenderedChat:
    return templates.render(json.dumps(messages), _native.ChatOptions(**options))


def refused(model: _native.Model, source: str) -> _native.NativeError:
    """The error of a template that cannot be loaded or cannot be rendered."""
    with pytest.raises(_native.NativeError) as caught:
        render(_native.ChatTemplates(model, source))
    assert caught.value.code == "template"
    return caught.value


# ---- which template -------------------------------------------------------------------------
def test_the_template_of_the_file_is_used(model: _native.Model) -> None:
    templates = _native.ChatTemplates(model, "")
    assert templates.from_model
    assert templates.source == model.info()["chat_template"]
    assert render(templates).prompt == CHATML


def test_a_file_without_template_chats_in_chatml() -> None:
    model = _native.Model.load(str(tiny_models.llama_no_template()), _native.ModelParams())
    templates = _native.ChatTemplates(model, "")
    assert not templates.from_model
    assert render(templates).prompt == CHATML


def test_an_override_wins(model: _native.Model) -> None:
    templates = _native.ChatTemplates(model, "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}")
    assert not templates.from_model
    assert render(templates).prompt == "[system]Be brief.[user]Hi"


def test_the_prompt_of_a_real_model_is_its_own(smollm2: Path) -> None:
    model = _native.Model.load(str(smollm2), _native.ModelParams(vocab_only=True))
    assert render(_native.ChatTemplates(model, "")).prompt == CHATML


# ---- options --------------------------------------------------------------------------------
def test_without_generation_prompt_the_prompt_ends_with_the_last_message(model: _native.Model) -> None:
    chat = render(_native.ChatTemplates(model, ""), add_generation_prompt=False)
    assert chat.prompt == CHATML.removesuffix("<|im_start|>assistant\n")


def test_the_last_assistant_message_can_be_continued(model: _native.Model) -> None:
    messages = [*HELLO, {"role": "assistant", "content": "Hello, my"}]
    chat = render(_native.ChatTemplates(model, ""), messages, continue_final=True)
    assert chat.prompt == CHATML + "Hello, my"


def test_only_an_assistant_message_can_be_continued(model: _native.Model) -> None:
    with pytest.raises(_native.NativeError, match="continue_final") as caught:
        render(_native.ChatTemplates(model, ""), continue_final=True)
    assert caught.value.code == "request"


def test_template_kwargs_are_variables_of_the_template(model: _native.Model) -> None:
    templates = _native.ChatTemplates(model, "{{ name }} is {{ age + 1 }}")
    assert render(templates, template_kwargs={"name": '"Ada"', "age": "36"}).prompt == "Ada is 37"


def test_enable_thinking_reaches_the_template(model: _native.Model) -> None:
    templates = _native.ChatTemplates(model, "{{ enable_thinking }}")
    assert render(templates, enable_thinking=True).prompt != render(templates, enable_thinking=False).prompt


def test_tools_ask_for_a_grammar(model: _native.Model) -> None:
    templates = _native.ChatTemplates(model, HERMES)
    required = render(templates, tools_json=json.dumps([WEATHER]), tool_choice="required")
    assert "weather" in required.grammar
    assert not required.grammar_lazy
    assert not render(templates, tools_json=json.dumps([WEATHER]), tool_choice="none").grammar


def test_a_schema_becomes_a_grammar_and_a_grammar_is_handed_through(model: _native.Model) -> None:
    templates = _native.ChatTemplates(model, "")
    assert "root" in render(templates, json_schema='{"type": "integer"}').grammar
    assert render(templates, grammar='root ::= "a"').grammar == 'root ::= "a"'
    with pytest.raises(_native.NativeError, match="exclude each other"):
        render(templates, grammar='root ::= "a"', json_schema='{"type": "integer"}')


def test_unknown_options_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="tool_json"):
        _native.ChatOptions(tool_json="[]")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"tool_choice": "maybe"}, "request"),
        ({"reasoning_format": "loud"}, "request"),
        ({"tools_json": "{}"}, "tool"),
        ({"tools_json": '[{"type": "function"}]'}, "tool"),
        ({"tools_json": "["}, "tool"),
        ({"tools_json": "[" * 1000}, "tool"),
        ({"template_kwargs": {"x": "{"}}, "request"),
        ({"template_kwargs": {"x": "[" * 1000}}, "request"),
        ({"json_schema": "[" * 1000}, "grammar"),
    ],
    ids=str,
)
def test_options_that_cannot_work_are_refused(model: _native.Model, options: dict[str, object], code: str) -> None:
    with pytest.raises(_native.NativeError) as caught:
        render(_native.ChatTemplates(model, ""), **options)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "messages",
    [
        "no list",
        [1],
        [{}],
        [{"role": "user"}],
        [{"role": "user", "content": 1}],
        [{"role": "user", "content": [{"type": "hologram"}]}],
        [{"role": "assistant", "tool_calls": [{}]}],
    ],
    ids=str,
)
def test_malformed_messages_are_refused(model: _native.Model, messages: object) -> None:
    with pytest.raises(_native.NativeError) as caught:
        render(_native.ChatTemplates(model, ""), messages)
    assert caught.value.code == "request"


def test_messages_nested_too_deeply_are_refused_with_the_depth(model: _native.Model) -> None:
    with pytest.raises(_native.NativeError) as caught:
        _native.ChatTemplates(model, "").render("[" * 100_000, _native.ChatOptions())
    assert caught.value.numbers == {"depth": 100_000, "limit": 128}


# ---- templates ------------------------------------------------------------------------------
def test_the_templates_own_message_reaches_the_user(model: _native.Model) -> None:
    error = refused(model, "{{ raise_exception('Only user messages, please') }}")
    assert str(error).endswith("Only user messages, please")


@pytest.mark.parametrize(
    "source", ["{% if %}", "{% for x in %}", "{{ 'open", "{% endfor %}", "{% macro %}", "{{ ) }}", "{% if a %}"]
)
def test_a_malformed_template_is_refused_with_the_reason(model: _native.Model, source: str) -> None:
    with pytest.raises(_native.NativeError, match=r"malformed: .") as caught:
        _native.ChatTemplates(model, source)
    assert caught.value.code == "template"
    assert "std::exception" not in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        "{{ " + "(" * 129 + "1" + ")" * 129 + " }}",
        "{{ " + "[" * 100_000 + " }}",
        "{% if a %}" * 129 + "{% endif %}" * 129,
        "{% for a in b %}" * 10_000,
        "{{ " + "not " * 100_000 + "a }}",
        "{{ a" + " ~ a" * 100_000 + " }}",
        "{{ a" + ".a" * 100_000 + " }}",
        "{{ a" + "|trim" * 100_000 + " }}",
        "{{ a" + " if a else a" * 50_000 + " }}",
        "{% if a %}" + "{% elif a %}" * 50_000 + "{% endif %}",
        "x" * (1024 * 1024 + 1),
    ],
    ids=["parentheses", "lists", "ifs", "fors", "nots", "joins", "members", "filters", "ternaries", "elifs", "bytes"],
)
def test_a_template_that_would_overflow_the_stack_is_refused_with_the_limit(model: _native.Model, source: str) -> None:
    with pytest.raises(_native.NativeError) as caught:
        _native.ChatTemplates(model, source)
    assert caught.value.code == "template"
    assert caught.value.numbers["value"] > caught.value.numbers["limit"]


@pytest.mark.parametrize(
    "source",
    [
        "{{ " + "(" * 128 + "1" + ")" * 128 + " }}",
        "{% if true %}" * 128 + "x" + "{% endif %}" * 128,
        "{{ 'a'" + " ~ 'a'" * 1500 + " }}",
        "{{ " + "not " * 4000 + "true }}",
    ],
    ids=["parentheses", "ifs", "joins", "nots"],
)
def test_a_template_just_within_the_limits_renders(model: _native.Model, source: str) -> None:
    assert render(_native.ChatTemplates(model, source)).prompt


@pytest.mark.parametrize(
    "source",
    [
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{% macro f(n) %}{{ g(n) }}{% endmacro %}{% macro g(n) %}x{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "{% set n = namespace(a=1) %}{% set n.a = n %}{{ n.a | tojson }}",
        "{% set a = [] %}{% set _ = a.append(a) %}{{ a }}",
    ],
    ids=["macro", "two macros", "cyclic namespace", "cyclic list"],
)
def test_endless_recursion_in_a_template_is_an_error(model: _native.Model, source: str) -> None:
    refused(model, source)
