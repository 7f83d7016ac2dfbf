"""Conversations: the template of the file, rendered and answered as llama.cpp's own server does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llamaint import Llama
from tests.support.llama_server import LlamaServer

pytestmark = pytest.mark.parametrize("model", ["smollm2", "llama", "llama_spm"], indirect=True)

CONVERSATIONS = [
    [{"role": "user", "content": "Name three colours."}],
    [{"role": "system", "content": "Answer in one word."}, {"role": "user", "content": "What is 2 + 2?"}],
    [
        {"role": "user", "content": "Hello, I am Mia. \u2600"},
        {"role": "assistant", "content": "Hello Mia!"},
        {"role": "user", "content": "What is my name?"},
    ],
]


@pytest.mark.parametrize("messages", CONVERSATIONS, ids=["plain", "system", "turns"])
def test_chat_equals_that_of_llama_server(
    server: LlamaServer, open_llama: Callable[..., Llama], messages: list[dict[str, str]]
) -> None:
    llm = open_llama(n_parallel=1, prefix_cache=False)
    body = {"messages": messages, "max_tokens": 24, "temperature": 0.0, "cache_prompt": False}
    theirs = server.post("/v1/chat/completions", body)
    ours = llm.chat(messages, max_tokens=24, temperature=0.0)
    assert ours.usage.prompt_tokens == theirs["usage"]["prompt_tokens"]
    # Random weights stop inside a character; what then stands for its first bytes is not the model's word.
    content = theirs["choices"][0]["message"]["content"] or ""
    assert ours.text.rstrip("\ufffd") == content.rstrip("\ufffd")
    assert ours.finish_reason == theirs["choices"][0]["finish_reason"]
