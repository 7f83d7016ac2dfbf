"""What the fake engine cannot show: real tokens, counts and cancelled decodes, on SmolLM2 and MiniLM."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.vectorstores import InMemoryVectorStore

from llamaint_langchain import ChatLlamaint, Llamaint, LlamaintContextOverflowError, LlamaintEmbeddings

pytestmark = pytest.mark.native

# The promise that nothing else in the engine changes an answer holds for this setting.
ENGINE: dict[str, Any] = {"n_ctx": 4096, "engine_kwargs": {"deterministic": True}}
QUESTION = [SystemMessage("Answer shortly."), HumanMessage("What is the capital of France?")]


@pytest.fixture(scope="module")
def chat(smollm2: Path) -> Iterator[ChatLlamaint]:
    with ChatLlamaint(model=smollm2, **ENGINE, temperature=0, max_tokens=24).warmup() as chat:
        yield chat


@pytest.fixture(scope="module")
def embeddings(minilm: Path) -> Iterator[LlamaintEmbeddings]:
    with LlamaintEmbeddings(model=minilm).warmup() as embeddings:
        yield embeddings


async def test_every_way_to_ask_gives_the_same_text(chat: ChatLlamaint) -> None:
    want = chat.invoke(QUESTION).content
    assert want
    chunks = list(chat.stream(QUESTION))
    full = AIMessageChunk(content="")
    for chunk in chunks:
        full = full + chunk
    assert full.content == want
    assert len(chunks) > 3
    assert (await chat.ainvoke(QUESTION)).content == want
    assert "".join([str(chunk.content) async for chunk in chat.astream(QUESTION)]) == want


def test_batch_answers_as_if_alone(chat: ChatLlamaint) -> None:
    prompts = [f"Count to {n}." for n in range(1, 9)]
    assert [a.content for a in chat.batch(prompts)] == [chat.invoke(prompt).content for prompt in prompts]


def test_counted_tokens_are_those_of_a_request(chat: ChatLlamaint) -> None:
    usage = chat.invoke(QUESTION).usage_metadata
    assert usage is not None
    assert chat.get_num_tokens_from_messages(QUESTION) == usage["input_tokens"]
    assert usage["output_tokens"] <= 24


def test_prompt_longer_than_the_window_says_by_how_much(chat: ChatLlamaint) -> None:
    with pytest.raises(LlamaintContextOverflowError) as caught:
        chat.invoke("word " * 5000)
    assert caught.value.numbers["n_ctx"] == 4096
    assert caught.value.numbers["n_prompt"] > 5000


async def test_cancelled_answers_leave_the_engine_to_the_others(chat: ChatLlamaint) -> None:
    want = chat.invoke(QUESTION).content
    tasks = [asyncio.create_task(chat.ainvoke("Tell a long story.", max_tokens=2000)) for _ in range(6)]
    await asyncio.sleep(0.2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert all(task.cancelled() for task in tasks)
    assert (await chat.ainvoke(QUESTION)).content == want


def test_completion_continues_the_text(chat: ChatLlamaint) -> None:
    llm = Llamaint(model=chat.model, **ENGINE, temperature=0, max_tokens=4)
    assert "Paris" in llm.invoke("The capital of France is")
    assert llm._engine(llm.model) is chat._engine(chat.model)


def test_chain_answers_from_what_the_store_found(chat: ChatLlamaint, embeddings: LlamaintEmbeddings) -> None:
    store = InMemoryVectorStore(embeddings)
    store.add_texts(["The engine is a C++ thread.", "Bread needs flour, water, salt and time."])
    found = store.similarity_search("What do I need for baking?", k=1)
    assert found[0].page_content.startswith("Bread")
    chain = ChatPromptTemplate.from_template("Context: {context}\n\nQuestion: {question}") | chat | StrOutputParser()
    question = {"context": found[0].page_content, "question": "What does bread need?"}
    answer = chain.invoke(question)
    assert answer
    assert "".join(chain.stream(question)) == answer
