"""The one place that knows the order prompt -> engine -> reply."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from llamaint.api.grammar import schema_text
from llamaint.backend.requests import ChatOptions, EngineRequest
from llamaint.engine import offload
from llamaint.engine.handle import RequestHandle
from llamaint.engine.stream import AsyncStream, Reader, Stream
from llamaint.errors import RequestError
from llamaint.prompt.messages import messages_json, parse_messages
from llamaint.prompt.stops import normalise_stops
from llamaint.prompt.tokens import PromptTokenizer
from llamaint.reply.chat import ChatReader
from llamaint.reply.completion import CompletionReader
from llamaint.reply.fold import fold_chat, fold_completion
from llamaint.types import ChatEvent, ChatResult, CompletionResult, Finish, Message, TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable

    from llamaint.api.options import Call
    from llamaint.backend.grammar import Grammar
    from llamaint.backend.protocols import Backend, ChatTemplates, Engine, Model
    from llamaint.engine.guard import EngineGuard

T = TypeVar("T")
Prompt = str | Sequence[int]
Messages = Sequence[Message | Mapping[str, object]]

_RENDERING = offload.INLINE_CHARS + 1  # a template takes milliseconds however short the messages are
_GRAMMAR_WEIGHT = 16  # characters of prompt that take as long as one of a grammar


@dataclass(frozen=True, slots=True)
class Prepared(Generic[T]):
    """A request ready for the engine, and how its chunks become events."""

    request: EngineRequest
    reader: Reader[T]


class Pipeline:
    """Prepares, submits and reads the requests of one engine. Thread-safe."""

    def __init__(
        self,
        backend: Backend,
        model: Model,
        guard: EngineGuard[Engine],
        *,
        name: str,
        chat_template: str | None,
    ) -> None:
        self.name = name
        self.guard = guard
        self._backend = backend
        self._model = model
        self._tokenizer = PromptTokenizer(model)
        self._template_source = chat_template or ""
        self._templates: ChatTemplates | None = None
        self._templates_lock = threading.Lock()
        if chat_template is not None:
            _ = self.templates  # a bad template of the caller's is found at load

    @property
    def model(self) -> Model:
        """The model, if it may be used here. Raises ForkedError, ClosedError."""
        _ = self.guard.engine
        return self._model

    @property
    def can_infill(self) -> bool:
        """Whether the model has fill-in-the-middle tokens."""
        return not self._tokenizer.missing_infill

    @property
    def templates(self) -> ChatTemplates:
        """The chat template, parsed once. Raises TemplateError."""
        if self._templates is None:
            with self._templates_lock:
                if self._templates is None:
                    self._templates = self._backend.open_templates(self._model, self._template_source)
        return self._templates

    # ---- completion -------------------------------------------------------------------------
    def complete(self, prompt: Prompt, call: Call) -> CompletionResult:
        """Generate and wait."""
        return fold_completion(self._run(self._completion(prompt, call, stream=False)), self.name)

    def complete_stream(self, prompt: Prompt, call: Call) -> Stream[TextDelta | Finish]:
        """Submit; the stream yields events as they come."""
        return self._run(self._completion(prompt, call, stream=True))

    async def acomplete(self, prompt: Prompt, call: Call) -> CompletionResult:
        """`complete` for an event loop."""
        prepared = await self._offload(lambda: self._completion(prompt, call, stream=False), _size(prompt), call)
        return fold_completion(await self._collect(prepared), self.name)

    def acomplete_stream(self, prompt: Prompt, call: Call) -> AsyncStream[TextDelta | Finish]:
        """`complete_stream` for an event loop; submitted by the first step."""
        return self._arun(lambda: self._completion(prompt, call, stream=True), _size(prompt), call)

    # ---- chat -------------------------------------------------------------------------------
    def chat(self, messages: Messages, call: Call) -> ChatResult:
        """Answer and wait."""
        parsed = parse_messages(messages)
        return fold_chat(self._run(self._chat(parsed, call, stream=False)), self.name)

    def chat_stream(self, messages: Messages, call: Call) -> Stream[ChatEvent]:
        """Submit; the stream yields events as they come."""
        return self._run(self._chat(parse_messages(messages), call, stream=True))

    async def achat(self, messages: Messages, call: Call) -> ChatResult:
        """`chat` for an event loop."""
        parsed = parse_messages(messages)
        prepared = await self._offload(lambda: self._chat(parsed, call, stream=False), _RENDERING, call)
        return fold_chat(await self._collect(prepared), self.name)

    def achat_stream(self, messages: Messages, call: Call) -> AsyncStream[ChatEvent]:
        """`chat_stream` for an event loop; submitted by the first step."""
        parsed = parse_messages(messages)
        return self._arun(lambda: self._chat(parsed, call, stream=True), _RENDERING, call)

    def count_tokens(self, text_or_messages: str | Messages) -> int:
        """Tokens the engine would see as prompt."""
        _ = self.guard.engine
        if isinstance(text_or_messages, str):
            return len(self._tokenizer.text(text_or_messages))
        rendered = self.templates.render(messages_json(parse_messages(text_or_messages)), ChatOptions())
        return len(self._tokenizer.text(rendered.prompt))

    def detokenize(self, tokens: Sequence[int], special: bool) -> bytes:
        """Bytes of tokens. Raises RequestError, InvalidBatchError."""
        return self.model.detokenize(self._tokenizer.ids(tokens, "tokens"), not special, special)

    # ---- prompt -----------------------------------------------------------------------------
    def _completion(self, prompt: Prompt, call: Call, *, stream: bool) -> Prepared[TextDelta | Finish]:
        model = self.model
        if call.suffix is not None:
            if not isinstance(prompt, str):
                raise RequestError("suffix needs the prompt as text, not as token ids")
            tokens = self._tokenizer.infill(prompt, call.suffix)
        else:
            tokens = self._tokenizer.prompt(prompt)
        echo = ""
        if call.echo:
            echo = prompt if isinstance(prompt, str) else model.detokenize(tokens, False, True).decode(errors="replace")
        reader = CompletionReader(n_prompt=len(tokens), piece=self._piece(call), echo=echo)
        return Prepared(self._request(tokens, call, self._grammar(call), (), stream), reader)

    def _chat(self, messages: Sequence[Message], call: Call, *, stream: bool) -> Prepared[ChatEvent]:
        model = self.model
        if call.continue_final and messages[-1].role != "assistant":
            raise RequestError(
                f"continue_final goes on from an assistant message; the last one has role {messages[-1].role!r}"
            )
        schema = call.sampling.json_schema
        options = ChatOptions(
            add_generation_prompt=not call.continue_final,
            continue_final=call.continue_final,
            enable_thinking=call.enable_thinking,
            json_schema="" if schema is None else schema_text(schema),
            grammar=call.sampling.grammar or "",
            template_kwargs=_template_kwargs(call.chat_template_kwargs),
        )
        templates = self.templates
        rendered = templates.render(messages_json(messages), options)
        grammar: Grammar | None = None
        if rendered.grammar:  # the caller's, or one around the schema that leaves room for reasoning
            grammar = model.grammar_from_gbnf(rendered.grammar)
            grammar = grammar.after(self._tokenizer.begun(rendered.grammar_prefix))
        tokens = self._tokenizer.text(rendered.prompt)
        reader = ChatReader(
            n_prompt=len(tokens),
            make_parser=lambda: templates.make_parser(rendered, options),
            piece=self._piece(call),
        )
        request = self._request(tokens, call, grammar, rendered.stops, stream)
        return Prepared(replace(request, preserved_tokens=self._tokenizer.singles(rendered.preserved)), reader)

    def _request(
        self,
        tokens: Sequence[int],
        call: Call,
        grammar: Grammar | None,
        stops: Sequence[str],
        stream: bool,
    ) -> EngineRequest:
        return EngineRequest(
            prompt=tokens,
            sampling=replace(call.sampling, grammar=None, json_schema=None),
            grammar=grammar,
            max_tokens=call.max_tokens,
            n=call.n,
            stop=normalise_stops(call.stop, stops),
            logprobs=call.logprobs,
            deadline_s=call.timeout,
            cache_prompt=call.cache_prompt,
            stream=stream,
            logits_processors=call.logits_processors,
        )

    def _grammar(self, call: Call) -> Grammar | None:
        if call.sampling.grammar is not None:
            return self._model.grammar_from_gbnf(call.sampling.grammar)
        if call.sampling.json_schema is not None:
            return self._model.grammar_from_json_schema(schema_text(call.sampling.json_schema))
        return None

    def _piece(self, call: Call) -> Callable[[int], bytes] | None:
        if call.logprobs is None:
            return None
        return lambda token: self._model.token_to_piece(token, True)

    # ---- engine -----------------------------------------------------------------------------
    def _run(self, prepared: Prepared[T]) -> Stream[T]:
        return Stream(RequestHandle(self.guard, prepared.request), prepared.reader)

    def _arun(self, prepare: Callable[[], Prepared[T]], n_chars: int, call: Call) -> AsyncStream[T]:
        async def start() -> tuple[RequestHandle, Reader[T]]:
            prepared = await self._offload(prepare, n_chars, call)
            return RequestHandle(self.guard, prepared.request), prepared.reader

        return AsyncStream(start)

    async def _collect(self, prepared: Prepared[T]) -> list[T]:
        async def start() -> tuple[RequestHandle, Reader[T]]:
            return RequestHandle(self.guard, prepared.request), prepared.reader

        return [event async for event in AsyncStream(start)]

    async def _offload(self, prepare: Callable[[], Prepared[T]], n_chars: int, call: Call) -> Prepared[T]:
        grammar = call.sampling.grammar or call.sampling.json_schema or ""
        return await offload.run(prepare, n_chars + _GRAMMAR_WEIGHT * len(str(grammar)))


def _size(prompt: object) -> int:
    return len(prompt) if isinstance(prompt, Sized) else 0  # what is wrong with it is found later


def _template_kwargs(given: Mapping[str, object] | None) -> dict[str, str]:
    try:
        return {name: json.dumps(value, ensure_ascii=False, allow_nan=False) for name, value in (given or {}).items()}
    except (TypeError, ValueError, RecursionError) as error:
        raise RequestError(f"chat_template_kwargs must hold JSON values: {error}") from None
