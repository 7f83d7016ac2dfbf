"""Exact token counts."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages

from llamaint.testing import FakeLlama
from llamaint_langchain import ChatLlamaint, Llamaint


def test_counts_are_those_of_the_models_tokenizer() -> None:
    llm = FakeLlama("x")
    chat = ChatLlamaint(llm=llm)
    assert chat.get_token_ids("one two three") == llm.tokenize("one two three", add_bos=False)
    assert chat.get_num_tokens("one two three") == 3
    assert Llamaint(llm=llm).get_num_tokens("one two three") == 3


def test_count_of_messages_is_what_a_request_sends() -> None:
    llm = FakeLlama("x")
    chat = ChatLlamaint(llm=llm)
    messages = [SystemMessage("Be kind."), HumanMessage("Hello!"), AIMessage("Hi."), HumanMessage("How are you?")]
    chat.invoke(messages)
    assert chat.get_num_tokens_from_messages(messages) == len(llm.requests[0].prompt)


def test_encoder_of_the_user_is_used() -> None:
    chat = ChatLlamaint(llm=FakeLlama("x"), custom_get_token_ids=lambda text: [0] * len(text))
    assert chat.get_num_tokens("four") == 4


def test_model_counts_for_trim_messages() -> None:
    chat = ChatLlamaint(llm=FakeLlama("x"))
    history = [HumanMessage("one " * 50), AIMessage("two " * 50), HumanMessage("three")]
    kept = trim_messages(history, max_tokens=30, token_counter=chat, start_on="human")
    assert kept == history[-1:]
