"""The demonstration's LangChain side: its splitter, its vector store, its chat model interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from llamaint.cli import rag_prompt
from llamaint.cli.rag import PASSAGE_CHARS, Document, Passage
from llamaint_langchain import ChatLlamaint, LlamaintEmbeddings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from llamaint import Llama, LlamaEmbedding

# Before a heading, between paragraphs, after a sentence, between words.
_SEPARATORS = [r"\n(?=#+ )", r"\n\n", r"(?<=[.!?])\s+", r"\s+", ""]
_MESSAGES: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


class LangChainRag:
    """`llamaint.cli.rag.RagFramework` with LangChain."""

    def __init__(self, llm: Llama, embedder: LlamaEmbedding) -> None:
        self._chat = ChatLlamaint(llm=llm, temperature=0, max_tokens=rag_prompt.MAX_TOKENS, stop=list(rag_prompt.STOP))
        self._store = InMemoryVectorStore(LlamaintEmbeddings(embedder=embedder))
        self._splitter = RecursiveCharacterTextSplitter(
            chunk_size=PASSAGE_CHARS, chunk_overlap=0, separators=_SEPARATORS, is_separator_regex=True
        )

    def index(self, documents: Sequence[Document]) -> int:
        """Splits and embeds the documents; returns the number of passages."""
        whole = [LangChainDocument(document.text, metadata={"source": document.name}) for document in documents]
        pieces = self._splitter.split_documents(whole)
        self._store.add_documents(pieces)
        return len(pieces)

    def retrieve(self, question: str, n_passages: int) -> list[Passage]:
        """The passages nearest to the question, best first."""
        return [
            Passage(document=piece.metadata["source"], text=piece.page_content, score=score)
            for piece, score in self._store.similarity_search_with_score(question, k=n_passages)
        ]

    def answer(self, question: str, passages: Sequence[Passage]) -> Iterator[str]:
        """The answer, piece by piece."""
        turns = rag_prompt.messages(question, [passage.text for passage in passages])
        for chunk in self._chat.stream([_MESSAGES[turn.role](str(turn.content)) for turn in turns]):
            yield chunk.text


make = LangChainRag
