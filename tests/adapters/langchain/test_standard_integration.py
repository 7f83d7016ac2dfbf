"""LangChain's own integration suites on SmolLM2 and MiniLM."""

from __future__ import annotations

import copy
import types
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_tests.integration_tests import ChatModelIntegrationTests, EmbeddingsIntegrationTests

from llamaint_langchain import ChatLlamaint, LlamaintEmbeddings, LlamaintUnsupportedError
from tests.support import tiny_models

pytestmark = pytest.mark.native

CHAT = {"model": "smollm2-135m", "n_ctx": 4096}
EMBEDDINGS = {"model": "minilm-l6"}


@pytest.fixture(scope="module")
def chat_engine() -> Iterator[None]:
    """Holds the engine, so that the objects of all tests share one."""
    with ChatLlamaint(**CHAT).warmup():
        yield


@pytest.fixture(scope="module")
def embedding_engine() -> Iterator[None]:
    """Holds the engine, so that the objects of all tests share one."""
    with LlamaintEmbeddings(**EMBEDDINGS).warmup():
        yield


def later(name: str, what: str, *, run: bool = True) -> Any:
    """A standard test that is expected to fail because a later version brings what it needs."""
    test = getattr(ChatModelIntegrationTests, name)
    twin = types.FunctionType(test.__code__, test.__globals__, name, test.__defaults__, test.__closure__)
    twin.__kwdefaults__ = test.__kwdefaults__
    twin.__dict__.update(copy.deepcopy(test.__dict__))
    twin.__annotations__ = test.__annotations__
    reason = f"{what} a later version's"
    return pytest.mark.xfail(reason=reason, raises=LlamaintUnsupportedError, run=run)(twin)


def tools(name: str) -> Any:
    return later(name, "tool calling is")


def schema(name: str) -> Any:
    return later(name, "structured output is")


def media(name: str) -> Any:
    return later(name, "images, audio and documents are", run=False)  # the test fetches them from the network first


@pytest.mark.usefixtures("chat_engine")
class TestChat(ChatModelIntegrationTests):
    @property
    def chat_model_class(self) -> type[ChatLlamaint]:
        return ChatLlamaint

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {**CHAT, "temperature": 0, "max_tokens": 48}

    @property
    def model_override_value(self) -> str:
        return str(tiny_models.llama())

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def supports_image_inputs(self) -> bool:
        return True

    @property
    def supports_image_tool_message(self) -> bool:
        return True

    @property
    def supports_audio_inputs(self) -> bool:
        return True

    @property
    def supports_pdf_inputs(self) -> bool:
        return True

    @property
    def supports_pdf_tool_message(self) -> bool:
        return True

    @property
    def supports_anthropic_inputs(self) -> bool:
        return True

    @property
    def supported_usage_metadata_details(self) -> Any:
        return {"invoke": ["cache_read_input"], "stream": ["cache_read_input"]}

    def invoke_with_cache_read_input(self, *, stream: bool = False) -> Any:
        chat = ChatLlamaint(**self.chat_model_params)
        chat.invoke("Name three colours.")
        if not stream:
            return chat.invoke("Name three colours.")
        first, *rest = chat.stream("Name three colours.")
        for chunk in rest:
            first = first + chunk
        return first

    test_tool_calling = tools("test_tool_calling")
    test_tool_calling_async = tools("test_tool_calling_async")
    test_tool_calling_with_no_arguments = tools("test_tool_calling_with_no_arguments")
    test_tool_choice = tools("test_tool_choice")
    test_tool_message_error_status = tools("test_tool_message_error_status")
    test_tool_message_histories_list_content = tools("test_tool_message_histories_list_content")
    test_tool_message_histories_string_content = tools("test_tool_message_histories_string_content")
    test_bind_runnables_as_tools = tools("test_bind_runnables_as_tools")
    test_structured_few_shot_examples = tools("test_structured_few_shot_examples")
    test_agent_loop = tools("test_agent_loop")
    test_unicode_tool_call_integration = tools("test_unicode_tool_call_integration")

    test_structured_output = schema("test_structured_output")
    test_structured_output_async = schema("test_structured_output_async")
    test_structured_output_optional_param = schema("test_structured_output_optional_param")
    test_structured_output_pydantic_2_v1 = schema("test_structured_output_pydantic_2_v1")
    test_json_mode = schema("test_json_mode")

    test_image_inputs = media("test_image_inputs")
    test_image_tool_message = media("test_image_tool_message")
    test_audio_inputs = media("test_audio_inputs")
    test_pdf_inputs = media("test_pdf_inputs")
    test_pdf_tool_message = media("test_pdf_tool_message")
    test_anthropic_inputs = media("test_anthropic_inputs")


@pytest.mark.usefixtures("embedding_engine")
class TestEmbeddings(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[LlamaintEmbeddings]:
        return LlamaintEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return EMBEDDINGS
