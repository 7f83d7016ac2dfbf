"""Results and events of the runtime → LangChain generations. Streamed and whole agree."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, InvalidToolCall, ToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from llamaint import types
from llamaint_langchain._metadata import (
    PROVIDER,
    last_metadata,
    openai_logprobs,
    token_usage,
    usage_metadata,
)


def chat_result(result: types.ChatResult, *, model: str, with_usage: bool) -> ChatResult:
    """All n choices of a finished request; the first carries the usage of the whole."""
    generations = [
        _generation(choice, result, model=model, with_usage=with_usage and not number)
        for number, choice in enumerate(result.choices)
    ]
    output = {"token_usage": token_usage(result.usage), "model_name": model}
    return ChatResult(generations=generations, llm_output=output)


def _generation(choice: types.Choice, result: types.ChatResult, *, model: str, with_usage: bool) -> ChatGeneration:
    message = choice.message or types.Message(role="assistant", content=choice.text)
    calls, invalid = _tool_calls(message)
    return ChatGeneration(
        message=AIMessage(
            content=_text(message.content),
            additional_kwargs=_reasoning(message.reasoning),
            tool_calls=calls,
            invalid_tool_calls=invalid,
            usage_metadata=usage_metadata(result.usage) if with_usage else None,
            response_metadata={
                "model_provider": PROVIDER,
                **last_metadata(model, result.usage, result.timings),
            },
        ),
        generation_info={
            "finish_reason": choice.finish_reason,
            **openai_logprobs(choice.logprobs or None),
        },
    )


def chunk(event: types.ChatEvent, *, model: str, with_usage: bool) -> ChatGenerationChunk:
    """One chunk for one event.

    A chunk has text or tool-call parts, never both: LangChain drops the parts when there is text.
    """
    if isinstance(event, types.TextDelta):
        return _chunk(content=event.text, info=openai_logprobs(event.logprobs or None))
    if isinstance(event, types.ReasoningDelta):
        return _chunk(additional_kwargs=_reasoning(event.text))
    if isinstance(event, types.ToolCallStart):
        call = tool_call_chunk(name=event.name, args="", id=event.id, index=event.call)
        return _chunk(tool_call_chunks=[call])
    if isinstance(event, types.ToolArgsDelta):
        call = tool_call_chunk(args=event.text, index=event.call)
        return _chunk(tool_call_chunks=[call])
    if isinstance(event, types.ToolCallEnd):
        return _chunk(tool_call_chunks=[tool_call_chunk(args="", index=event.call)])
    return _chunk(
        chunk_position="last",
        usage_metadata=usage_metadata(event.usage) if with_usage else None,
        metadata=last_metadata(model, event.usage, event.timings),
        info={"finish_reason": event.reason},
    )


def _chunk(
    *,
    content: str = "",
    metadata: dict[str, Any] | None = None,
    info: dict[str, Any] | None = None,
    **fields: Any,
) -> ChatGenerationChunk:
    message = AIMessageChunk(
        content=content,
        response_metadata={"model_provider": PROVIDER, **(metadata or {})},
        **fields,
    )
    return ChatGenerationChunk(message=message, generation_info=info or None)


def _reasoning(text: str | None) -> dict[str, Any]:
    return {} if text is None else {"reasoning_content": text}


def _text(content: types.Content) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)


def _tool_calls(message: types.Message) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    calls: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    for call in message.tool_calls:
        try:
            args = json.loads(call.arguments or "{}")
        except json.JSONDecodeError as error:
            args = error
        if isinstance(args, dict):
            calls.append(tool_call(name=call.name, args=args, id=call.id))
        else:
            reason = str(args) if isinstance(args, Exception) else "arguments are not an object"
            invalid.append(invalid_tool_call(name=call.name, args=call.arguments, id=call.id, error=reason))
    return calls, invalid
