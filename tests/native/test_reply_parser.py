"""Content, reasoning and tool calls of a reply as it grows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llamaint import _native
from tests.native.test_chat_templates import HELLO, HERMES, WEATHER

# Reasoning as Qwen3 and DeepSeek write it.
THINKING = """{% for m in messages %}<|im_start|>{{ m.role }}
{% if m.reasoning_content %}<think>
{{ m.reasoning_content }}
</think>

{% endif %}{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> _native.Model:
    return _native.Model.load(str(tiny_llama), _native.ModelParams())


def parser(model: _native.Model, source: str, messages: object = HELLO, **options: object) -> _native.ReplyParser:
    templates = _native.ChatTemplates(model, source)
    chat_options = _native.ChatOptions(**options)
    return templates.make_parser(templates.render(json.dumps(messages), chat_options), chat_options)


def read(reader: _native.ReplyParser, text: str, step: int) -> dict[str, object]:
    """Everything the parser returned for the text, fed ``step`` characters at a time."""
    content, reasoning = "", ""
    calls: dict[int, dict[str, str]] = {}
    pieces = [text[i : i + step] for i in range(0, len(text), step)]
    for i in range(len(pieces) + 1):
        final = i == len(pieces)
        delta = reader.feed("" if final else pieces[i], final)
        content += delta.content
        reasoning += delta.reasoning
        for index, ident, name, arguments in delta.tool_calls:
            call = calls.setdefault(index, {"id": ident, "name": name, "arguments": ""})
            assert call["id"] == ident
            assert name in ("", call["name"])
            call["arguments"] += arguments
    return {"content": content, "reasoning": reasoning, "calls": [calls[i] for i in sorted(calls)]}


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_plain_text_passes_through(model: _native.Model, step: int) -> None:
    text = 'Hello <b>world</b> {"a": [1]} ```code``` \n\n end  '
    reader = parser(model, "")
    assert read(reader, text, step)["content"] == text
    assert not reader.parse_failed


def test_plain_text_is_not_held_back(model: _native.Model) -> None:
    reader = parser(model, "")
    assert [reader.feed(piece, False).content for piece in ("H", "<", "tool")] == ["H", "<", "tool"]


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_reasoning_is_told_from_content(model: _native.Model, step: int) -> None:
    result = read(parser(model, THINKING), "<think>\nHm, a greeting.\n</think>\n\nHello!", step)
    assert str(result["reasoning"]).strip() == "Hm, a greeting."
    assert str(result["content"]).strip() == "Hello!"


def test_reasoning_format_none_leaves_the_tags_in_the_content(model: _native.Model) -> None:
    text = "<think>\nHm.\n</think>\n\nHello!"
    assert "<think>" in str(read(parser(model, THINKING, reasoning_format="none"), text, 5)["content"])


@pytest.mark.parametrize("step", [1, 5, 1000])
def test_a_tool_call_has_its_name_once_and_arguments_that_grow(model: _native.Model, step: int) -> None:
    reader = parser(model, HERMES, tools_json=json.dumps([WEATHER]))
    result = read(reader, CALL, step)
    (call,) = result["calls"]  # type: ignore[misc]
    assert call["name"] == "weather"
    assert json.loads(call["arguments"]) == {"city": "Oslo"}
    assert call["id"]
    assert not reader.parse_failed


def test_two_tool_calls_have_ids_of_their_own(model: _native.Model) -> None:
    reader = parser(model, HERMES, tools_json=json.dumps([WEATHER]), parallel_tool_calls=True)
    first, second = read(reader, f"{CALL}\n{CALL}", 9)["calls"]  # type: ignore[misc]
    assert first["id"] != second["id"]
    assert json.loads(second["arguments"]) == {"city": "Oslo"}


def test_a_reply_cut_short_in_a_tool_call_keeps_what_came_of_it(model: _native.Model) -> None:
    cut = CALL.index("{", CALL.index("arguments")) + 1
    result = read(parser(model, HERMES, tools_json=json.dumps([WEATHER])), CALL[:cut], 3)
    (call,) = result["calls"]  # type: ignore[misc]
    assert (call["name"], call["arguments"]) == ("weather", "{")
    assert result["content"] == ""


def test_brackets_nested_without_end_are_content_and_marked(model: _native.Model) -> None:
    reader = parser(model, HERMES, tools_json=json.dumps([WEATHER]))
    text = '<tool_call>\n{"name": "weather", "arguments": ' + "[" * 100_000
    result = read(reader, text, 50_000)
    assert reader.parse_failed
    assert result == {"content": text, "reasoning": "", "calls": []}


def test_a_continued_message_returns_only_what_is_new(model: _native.Model) -> None:
    messages = [*HELLO, {"role": "assistant", "content": "Hello, my"}]
    reader = parser(model, "", messages, continue_final=True)
    assert read(reader, " friend", 2)["content"] == " friend"


def test_after_a_failure_text_still_passes(model: _native.Model) -> None:
    reader = parser(model, HERMES, tools_json=json.dumps([WEATHER]))
    reader.feed('<tool_call>{"name": ' + "[" * 1000, True)
    assert reader.parse_failed
    assert reader.feed("more", False).content == "more"


def test_a_long_reply_is_parsed_in_time_that_grows_with_its_length(model: _native.Model) -> None:
    text = "<think>\n" + "Let me see. " * 8000 + "\n</think>\n\n" + "Well then. " * 2000
    result = read(parser(model, THINKING), text, 4)
    assert len(str(result["reasoning"])) + len(str(result["content"])) > 110_000
