"""Dicts and `Message` objects to checked messages, and back to the template's JSON."""

from __future__ import annotations

import json

import pytest

from llamaint import Message, RequestError, TextPart, ToolCall, ToolError, UnsupportedError
from llamaint.prompt.messages import messages_json, parse_messages

USER = {"role": "user", "content": "hi"}


def test_every_field_of_a_conversation_reaches_the_template():
    conversation = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 2+2?", "name": "ada"},
        {
            "role": "assistant",
            "content": "",
            "reasoning_content": "Let me add.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 2}'}}
            ],
        },
        {"role": "tool", "content": "4", "tool_call_id": "c1", "name": "add"},
        {"role": "assistant", "content": "It is 4."},
    ]
    assert json.loads(messages_json(parse_messages(conversation))) == conversation


def test_message_objects_and_dicts_mean_the_same():
    message = Message(
        role="assistant", content="ok", reasoning="hm", tool_calls=(ToolCall(id="1", name="f", arguments="{}"),)
    )
    as_json = json.loads(messages_json([message]))
    assert parse_messages([message]) == (message,)
    assert parse_messages(as_json) == (message,)


def test_text_parts_keep_their_order():
    content = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    (message,) = parse_messages([{"role": "user", "content": content}])
    assert message.content == (TextPart(text="one"), TextPart(text="two"))
    assert json.loads(messages_json([message]))[0]["content"] == content


def test_none_content_of_an_assistant_is_empty():
    (message,) = parse_messages([{"role": "assistant", "content": None}])
    assert message.content == ""


def test_reply_of_openai_can_be_sent_back():
    reply = {"role": "assistant", "content": "4", "refusal": None, "annotations": [], "audio": None}
    assert parse_messages([USER, reply])[1].content == "4"


def test_arguments_given_as_mapping_become_json_text():
    calls = [{"id": "1", "function": {"name": "f", "arguments": {"city": "Zürich"}}}]
    (message,) = parse_messages([{"role": "assistant", "tool_calls": calls}])
    assert message.tool_calls[0].arguments == '{"city": "Zürich"}'


@pytest.mark.parametrize(
    ("messages", "error", "words"),
    [
        ([], RequestError, "messages is empty"),
        ("hi", RequestError, "messages must be a list; it is str"),
        (USER, RequestError, "messages must be a list"),
        ([USER, "hi"], RequestError, r"messages\[1\] must be a mapping; it is str"),
        ([USER, {"role": "robot", "content": "x"}], RequestError, r"messages\[1\] has role 'robot'"),
        ([{"content": "x"}], RequestError, r"messages\[0\] has role None"),
        ([{"role": "user", "content": "x", "colour": 1}], RequestError, r"messages\[0\] has an unknown key 'colour'"),
        ([{"role": "user", "content": None}], RequestError, r"messages\[0\]\['content'\] must be"),
        ([{"role": "user", "content": 5}], RequestError, "it is int"),
        ([{"role": "user", "content": [{"type": "text"}]}], RequestError, r"\['content'\]\[0\]\['text'\]"),
        ([{"role": "user", "content": [{"type": "txt", "text": "x"}]}], RequestError, "has type 'txt'"),
        ([{"role": "user", "content": ["x"]}], RequestError, r"\['content'\]\[0\] must be a mapping"),
        (
            [{"role": "user", "content": "a\ud800"}],
            RequestError,
            r"\[0\] holds a lone surrogate at character 1",
        ),
        (
            [USER, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            UnsupportedError,
            r"messages\[1\]\['content'\]\[0\] is of type 'image_url'",
        ),
        ([{"role": "assistant", "content": "", "function_call": {"name": "f"}}], UnsupportedError, "function_call"),
        ([{"role": "user", "content": "", "tool_calls": [{"function": {"name": "f"}}]}], ToolError, "role is 'user'"),
        ([{"role": "user", "content": "", "tool_call_id": "1"}], ToolError, "role is 'user'"),
        ([{"role": "assistant", "tool_calls": [{}]}], ToolError, r"\['tool_calls'\]\[0\] must look like"),
        ([{"role": "assistant", "tool_calls": [{"function": {}}]}], ToolError, "needs the name"),
        ([{"role": "assistant", "tool_calls": [{"type": "x", "function": {"name": "f"}}]}], ToolError, "type 'x'"),
        ([{"role": "assistant", "tool_calls": "f"}], ToolError, "must be a list"),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": 5}}]}],
            ToolError,
            "arguments of type int",
        ),
        ([Message(role="user", content=("x",))], RequestError, r"messages\[0\]"),
        ([Message(role="robot", content="x")], RequestError, "has role 'robot'"),
    ],
)
def test_malformed_message_is_refused_with_its_index(messages, error, words):
    with pytest.raises(error, match=words):
        parse_messages(messages)
