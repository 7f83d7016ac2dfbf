"""What LlamaIndex needs of an LLM and of an embedding model, as suites to inherit.

There is no such suite upstream. A subclass gives the fixtures; the fake and the real models run the same.
"""

from __future__ import annotations

import asyncio
import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, ImageBlock, TextBlock
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler, TokenCountingHandler
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.llms.llm import LLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import TextNode
from llama_index.core.tools import FunctionTool

from llamaint.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

QUESTION = [
    ChatMessage(role="system", content="Answer shortly."),
    ChatMessage(role="user", content="What is the capital of France?"),
]


def last_of(responses: Iterator[Any]) -> Any:
    return list(responses)[-1]


async def last_of_async(responses: AsyncIterator[Any]) -> Any:
    return [response async for response in responses][-1]


async def chats(llm: LLM, messages: list[ChatMessage], **kwargs: Any) -> dict[str, ChatResponse]:
    """The last response of each way to chat."""
    return {
        "chat": llm.chat(messages, **kwargs),
        "stream_chat": last_of(llm.stream_chat(messages, **kwargs)),
        "achat": await llm.achat(messages, **kwargs),
        "astream_chat": await last_of_async(await llm.astream_chat(messages, **kwargs)),
    }


async def completions(llm: LLM, prompt: str, **kwargs: Any) -> dict[str, CompletionResponse]:
    """The last response of each way to complete."""
    return {
        "complete": llm.complete(prompt, **kwargs),
        "stream_complete": last_of(llm.stream_complete(prompt, **kwargs)),
        "acomplete": await llm.acomplete(prompt, **kwargs),
        "astream_complete": await last_of_async(await llm.astream_complete(prompt, **kwargs)),
    }


def usage(response: ChatResponse | CompletionResponse) -> dict[str, int]:
    """Counts without the cached ones, which depend on what was asked before."""
    counts = dict(response.raw["usage"])
    counts.pop("prompt_tokens_details")
    return counts


class LLMConformance:
    """Subclasses give ``llm``: greedy, at least six tokens long answers."""

    @pytest.fixture
    def llm(self) -> LLM:
        raise NotImplementedError

    async def test_every_way_to_chat_gives_the_same_answer(self, llm: LLM) -> None:
        answers = await chats(llm, QUESTION)
        want = answers["chat"]
        assert want.message.content
        for way, answer in answers.items():
            assert answer.message == want.message, way
            assert usage(answer) == usage(want), way
            assert answer.raw["finish_reason"] == want.raw["finish_reason"], way

    @pytest.mark.parametrize("formatted", [False, True])
    async def test_every_way_to_complete_gives_the_same_text(self, llm: LLM, formatted: bool) -> None:
        answers = await completions(llm, "The capital of France is", formatted=formatted)
        want = answers["complete"]
        assert want.text
        for way, answer in answers.items():
            assert answer.text == want.text, way
            assert usage(answer) == usage(want), way

    async def test_completion_is_one_user_turn_unless_formatted(self, llm: LLM) -> None:
        prompt = "What is the capital of France?"
        turn = llm.chat([ChatMessage(role="user", content=prompt)])
        assert llm.complete(prompt).text == turn.message.content
        raw = llm.complete(prompt, formatted=True)
        assert raw.raw["usage"]["prompt_tokens"] < turn.raw["usage"]["prompt_tokens"]

    async def test_streamed_responses_hold_everything_so_far(self, llm: LLM) -> None:
        so_far = ""
        for chat in llm.stream_chat(QUESTION):
            so_far += chat.delta or ""
            assert chat.message.content == so_far
        text = ""
        async for completion in await llm.astream_complete("One, two,", formatted=True):
            text += completion.delta or ""
            assert completion.text == text
        assert so_far
        assert text

    async def test_raw_is_json_and_only_the_last_response_has_it(self, llm: LLM) -> None:
        *rest, last = llm.stream_chat(QUESTION)
        assert [response.raw for response in rest] == [None] * len(rest)
        assert json.loads(json.dumps(last.raw)) == last.raw
        assert last.raw["usage"]["total_tokens"] > last.raw["usage"]["completion_tokens"] > 0

    async def test_token_counts_are_those_of_the_model(self, llm: LLM) -> None:
        counter = TokenCountingHandler(tokenizer=lambda text: pytest.fail("counted by guess"))
        llm.callback_manager = CallbackManager([counter])
        answers = [*(await chats(llm, QUESTION)).values(), *(await completions(llm, "One, two,")).values()]
        assert counter.prompt_llm_token_count == sum(usage(answer)["prompt_tokens"] for answer in answers)
        assert counter.completion_llm_token_count == sum(usage(answer)["completion_tokens"] for answer in answers)

    async def test_callbacks_see_each_call_once(self, llm: LLM) -> None:
        debug = LlamaDebugHandler(print_trace_on_end=False)
        llm.callback_manager = CallbackManager([debug])
        await chats(llm, QUESTION)
        await completions(llm, "One, two,")
        await completions(llm, "One, two,", formatted=True)
        assert len(debug.get_event_pairs(CBEventType.LLM)) == 12

    async def test_many_at_once_answer_as_if_alone(self, llm: LLM) -> None:
        prompts = [f"Count to {n}." for n in range(1, 7)]
        alone = [llm.complete(prompt).text for prompt in prompts]
        together = await asyncio.gather(*(llm.acomplete(prompt) for prompt in prompts))
        assert [answer.text for answer in together] == alone

    async def test_keywords_of_the_call_act(self, llm: LLM) -> None:
        for answer in (await chats(llm, QUESTION, max_tokens=3)).values():
            assert usage(answer)["completion_tokens"] == 3
            assert answer.raw["finish_reason"] == "length"
        whole = llm.chat(QUESTION).message.content or ""
        stop = whole.split()[2]
        for way, answer in (await chats(llm, QUESTION, stop=[stop])).items():
            assert answer.message.content == whole[: whole.index(stop)], way
            assert answer.raw["finish_reason"] == "stop"

    async def test_logprobs_stand_beside_each_token(self, llm: LLM) -> None:
        for way, answer in (await chats(llm, QUESTION, logprobs=True, top_logprobs=3)).items():
            assert answer.logprobs is not None, way
            assert len(answer.logprobs) == usage(answer)["completion_tokens"], way
            assert all(1 <= len(row) <= 3 and row[0].logprob <= 0 for row in answer.logprobs), way
        assert llm.chat(QUESTION).logprobs is None

    async def test_unknown_keyword_is_refused(self, llm: LLM) -> None:
        for way in (llm.chat, llm.stream_chat):
            with pytest.raises(TypeError, match="'tempature'"):
                way(QUESTION, tempature=0.1)
        for away in (llm.achat, llm.astream_chat):
            with pytest.raises(TypeError, match="'tempature'"):
                await away(QUESTION, tempature=0.1)

    async def test_history_of_the_caller_is_not_changed(self, llm: LLM) -> None:
        history = [*QUESTION, ChatMessage(role="assistant", blocks=[TextBlock(text="a"), TextBlock(text="b")])]
        history.append(ChatMessage(role="user", content="Sure?"))
        before = copy.deepcopy(history)
        await chats(llm, history)
        assert history == before

    async def test_image_is_refused_with_its_place(self, llm: LLM) -> None:
        message = ChatMessage(role="user", blocks=[TextBlock(text="What is this?"), ImageBlock(image=b"aGk=")])
        with pytest.raises(UnsupportedError, match=r"^message 1, block 1: ImageBlock"):
            llm.chat([QUESTION[0], message])
        with pytest.raises(UnsupportedError, match=r"^message 0, block 1: ImageBlock"):
            await llm.astream_chat([message])

    async def test_tools_are_refused(self, llm: Any) -> None:
        tool = FunctionTool.from_defaults(fn=lambda a: a, name="same", description="gives back what it got")
        assert not llm.metadata.is_function_calling_model
        with pytest.raises(UnsupportedError, match="tool"):
            llm.chat_with_tools([tool], "x")
        with pytest.raises(UnsupportedError, match="tool"):
            llm.chat(QUESTION, tools=[tool])

    async def test_metadata_says_chat_and_window(self, llm: LLM) -> None:
        assert llm.metadata.is_chat_model
        assert llm.metadata.context_window >= 1024
        assert llm.metadata == llm.metadata

    async def test_predict_keeps_the_system_prompt(self, llm: Any) -> None:
        from llama_index.core.prompts import PromptTemplate

        llm.system_prompt = "Answer shortly."
        predicted = llm.predict(PromptTemplate("What is the capital of {country}?"), country="France")
        assert predicted == llm.chat(QUESTION).message.content


class EmbeddingConformance:
    """Subclasses give ``embed_model``."""

    @pytest.fixture
    def embed_model(self) -> BaseEmbedding:
        raise NotImplementedError

    async def test_every_way_gives_the_same_vectors(self, embed_model: BaseEmbedding) -> None:
        texts = ["a cat sat on a mat", "rain", "a dog ran away", "rain"]
        vectors = embed_model.get_text_embedding_batch(texts)
        others = [
            [embed_model.get_text_embedding(text) for text in texts],
            [await embed_model.aget_text_embedding(text) for text in texts],
            await embed_model.aget_text_embedding_batch(texts),
            [embed_model.get_query_embedding(text) for text in texts],
            [await embed_model.aget_query_embedding(text) for text in texts],
        ]
        for other in others:
            assert len(other) == len(vectors)
            for one, two in zip(other, vectors, strict=True):
                assert one == pytest.approx(two, abs=2e-5)

    async def test_vectors_are_lists_of_python_floats(self, embed_model: BaseEmbedding) -> None:
        for vector in (embed_model.get_text_embedding("x"), await embed_model.aget_query_embedding("x")):
            assert type(vector) is list
            assert {type(value) for value in vector} == {float}

    async def test_index_finds_the_nearest_text(self, embed_model: BaseEmbedding) -> None:
        documents = [Document(text=text) for text in ("A cat sat on a mat.", "Bread needs flour.", "Tea is green.")]
        index = VectorStoreIndex.from_documents(documents, embed_model=embed_model)
        retriever = index.as_retriever(similarity_top_k=1)
        assert retriever.retrieve("a cat sat on the mat")[0].text == "A cat sat on a mat."
        assert (await retriever.aretrieve("bread needs some flour"))[0].text == "Bread needs flour."
        index.insert(Document(text="The moon is far."))
        retriever = index.as_retriever(similarity_top_k=1)  # the one before knows only the nodes of its time
        assert retriever.retrieve("the moon is far away")[0].text == "The moon is far."

    async def test_pipeline_embeds_every_node(self, embed_model: BaseEmbedding) -> None:
        pipeline = IngestionPipeline(transformations=[SentenceSplitter(chunk_size=64, chunk_overlap=0), embed_model])
        documents = [Document(text=f"Text number {n}.") for n in range(5)]
        for nodes in (pipeline.run(documents=documents), await pipeline.arun(documents=documents)):
            assert len(nodes) == 5
            assert all(node.embedding for node in nodes)

    async def test_callbacks_see_every_text_once(self, embed_model: BaseEmbedding) -> None:
        debug = LlamaDebugHandler(print_trace_on_end=False)
        embed_model.callback_manager = CallbackManager([debug])
        embed_model.embed_batch_size = 2
        embed_model.get_text_embedding_batch(["a", "b", "c"])
        pairs = debug.get_event_pairs(CBEventType.EMBEDDING)
        assert [len(end.payload["chunks"]) for _, end in pairs if end.payload] == [2, 1]

    async def test_nodes_are_embedded_in_place(self, embed_model: BaseEmbedding) -> None:
        nodes = [TextNode(text="a"), TextNode(text="b")]
        assert [node.embedding is not None for node in embed_model(nodes)] == [True, True]
        assert [node.embedding is not None for node in await embed_model.acall(nodes)] == [True, True]
