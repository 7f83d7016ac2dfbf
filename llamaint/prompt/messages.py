"""OpenAI-shaped messages, as dicts or `Message` objects, to checked messages and template JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from llamaint.errors import RequestError, ToolError, UnsupportedError
from llamaint.prompt.text import check_text
from llamaint.types import Content, Message, Role, TextPart, ToolCall

_ROLES = get_args(Role)
_KEYS = frozenset({"role", "content", "name", "reasoning_content", "tool_calls", "tool_call_id"})
# OpenAI's own replies carry these, usually empty; they are taken back only when they are.
_EMPTY_KEYS = frozenset({"refusal", "annotations", "audio", "function_call"})
_MEDIA_PARTS = frozenset({"image_url", "image", "input_audio", "audio", "audio_url", "video", "video_url", "file"})


def parse_messages(messages: Sequence[Message | Mapping[str, object]]) -> tuple[Message, ...]:
    """Check a conversation.

    Raises:
        RequestError: no messages, an unknown role, key or part; the message's index is named.
        ToolError: a malformed tool call.
        UnsupportedError: a media part; the pipeline takes text.
    """
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
        raise RequestError(f"messages must be a list; it is {type(messages).__name__}")
    if not messages:
        raise RequestError("messages is empty; there is nothing to answer")
    return tuple(_parse(message, index) for index, message in enumerate(messages))


def messages_json(messages: Sequence[Message]) -> str:
    """The JSON array that chat templates read, parts and tool calls in their order."""
    return json.dumps([_as_dict(message) for message in messages], ensure_ascii=False)


def _parse(message: object, index: int) -> Message:
    where = f"messages[{index}]"
    if isinstance(message, Message):
        message = _checked_dict(message, where)  # the same rules: it can be built with anything in it
    if not isinstance(message, Mapping):
        raise RequestError(f"{where} must be a mapping; it is {type(message).__name__}")
    for key in message.keys() - _KEYS:
        if key not in _EMPTY_KEYS:
            raise RequestError(f"{where} has an unknown key {key!r}")
        if message[key]:
            raise UnsupportedError(f"{where}[{key!r}] is not supported; leave it empty")
    role = message.get("role")
    if role not in _ROLES:
        raise RequestError(f"{where} has role {role!r}; it must be one of {', '.join(_ROLES)}")
    tool_calls = _parse_tool_calls(message.get("tool_calls"), where)
    if tool_calls and role != "assistant":
        raise ToolError(f"{where} has tool_calls but its role is {role!r}, not 'assistant'")
    tool_call_id = _optional_text(message.get("tool_call_id"), f"{where}['tool_call_id']")
    if tool_call_id is not None and role != "tool":
        raise ToolError(f"{where} has a tool_call_id but its role is {role!r}, not 'tool'")
    return Message(
        role=cast("Role", role),
        content=_parse_content(message.get("content"), where, may_be_none=role == "assistant"),
        reasoning=_optional_text(message.get("reasoning_content"), f"{where}['reasoning_content']"),
        tool_calls=tool_calls,
        name=_optional_text(message.get("name"), f"{where}['name']"),
        tool_call_id=tool_call_id,
    )


def _parse_content(content: object, where: str, *, may_be_none: bool) -> Content:
    if isinstance(content, str):
        return check_text(content, where)
    if content is None and may_be_none:
        return ""
    if not isinstance(content, Sequence) or isinstance(content, (bytes, bytearray)):
        raise RequestError(f"{where}['content'] must be a str or a list of parts; it is {type(content).__name__}")
    return tuple(_parse_part(part, f"{where}['content'][{i}]") for i, part in enumerate(content))


def _parse_part(part: object, where: str) -> TextPart:
    if not isinstance(part, Mapping):
        raise RequestError(f"{where} must be a mapping; it is {type(part).__name__}")
    kind = part.get("type")
    if kind in _MEDIA_PARTS:
        raise UnsupportedError(f"{where} is of type {kind!r}; this version takes text only")
    if kind != "text":
        raise RequestError(f"{where} has type {kind!r}; it must be 'text'")
    for key in part.keys() - {"type", "text"}:
        raise RequestError(f"{where} has an unknown key {key!r}")
    text = part.get("text")
    if not isinstance(text, str):
        raise RequestError(f"{where}['text'] must be a str; it is {type(text).__name__}")
    return TextPart(text=check_text(text, where))


def _parse_tool_calls(calls: object, where: str) -> tuple[ToolCall, ...]:
    if calls is None:
        return ()
    if not isinstance(calls, Sequence) or isinstance(calls, (str, bytes)):
        raise ToolError(f"{where}['tool_calls'] must be a list; it is {type(calls).__name__}")
    return tuple(_parse_tool_call(c, f"{where}['tool_calls'][{i}]") for i, c in enumerate(calls))


def _parse_tool_call(call: object, where: str) -> ToolCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping):
        raise ToolError(f"{where} must look like {{'id', 'type', 'function': {{'name', ...}}}}")
    for key in [*(call.keys() - {"id", "type", "function", "index"})]:
        raise ToolError(f"{where} has an unknown key {key!r}")
    if call.get("type", "function") != "function":
        raise ToolError(f"{where} has type {call['type']!r}; it must be 'function'")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise ToolError(f"{where} needs the name of a function")
    arguments: Any = function.get("arguments", "")
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments, ensure_ascii=False)
    if not isinstance(arguments, str):
        raise ToolError(f"{where} has arguments of type {type(arguments).__name__}; use JSON text")
    id_ = _optional_text(call.get("id"), f"{where}['id']") or ""
    return ToolCall(id=id_, name=name, arguments=check_text(arguments, where))


def _optional_text(value: object, where: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise RequestError(f"{where} must be a str; it is {type(value).__name__}")
    return check_text(value, where)


def _checked_dict(message: Message, where: str) -> dict[str, object]:
    content: object = message.content
    if not isinstance(content, str) and not _all_of(TextPart, content):
        raise RequestError(f"{where}.content must be a str or a tuple of TextPart; it is {content!r}")
    if not _all_of(ToolCall, message.tool_calls):
        raise ToolError(f"{where}.tool_calls must be a tuple of ToolCall; it is {message.tool_calls!r}")
    return _as_dict(message)


def _all_of(kind: type, values: object) -> bool:
    return isinstance(values, (tuple, list)) and all(isinstance(value, kind) for value in values)


def _as_dict(message: Message) -> dict[str, object]:
    content: object = message.content
    if not isinstance(message.content, str):
        content = [{"type": "text", "text": part.text} for part in message.content]
    result: dict[str, object] = {"role": message.role, "content": content}
    if message.reasoning is not None:
        result["reasoning_content"] = message.reasoning
    if message.tool_calls:
        result["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.name is not None:
        result["name"] = message.name
    if message.tool_call_id is not None:
        result["tool_call_id"] = message.tool_call_id
    return result
