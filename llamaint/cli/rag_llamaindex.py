"""The demonstration's LlamaIndex side: its splitter, its vector index, its LLM interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llama_index.core import Document as LlamaIndexDocument
from llama_index.core import VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.node_parser import SentenceSplitter

from llamaint.cli import rag_prompt
from llamaint.cli.rag import PASSAGE_CHARS, Document, Passage
from llamaint_llamaindex import Llamaint, LlamaintEmbedding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from llamaint import Llama, LlamaEmbedding

_SOURCE = "source"


class LlamaIndexRag:
    """`llamaint.cli.rag.RagFramework` with LlamaIndex."""

    def __init__(self, llm: Llama, embedder: LlamaEmbedding) -> None:
        self._llm = Llamaint(llm=llm, temperature=0, max_tokens=rag_prompt.MAX_TOKENS, stop=list(rag_prompt.STOP))
        self._embedding = LlamaintEmbedding(embedder=embedder)
        # Characters as tokens: the same passages as on the LangChain side, and no tokenizer is downloaded.
        self._splitter = SentenceSplitter(
            chunk_size=PASSAGE_CHARS, chunk_overlap=0, paragraph_separator="\n\n", tokenizer=list
        )
        self._index: VectorStoreIndex | None = None

    def index(self, documents: Sequence[Document]) -> int:
        """Splits and embeds the documents; returns the number of passages."""
        whole = [
            LlamaIndexDocument(
                text=document.text,
                metadata={_SOURCE: document.name},
                excluded_embed_metadata_keys=[_SOURCE],
                excluded_llm_metadata_keys=[_SOURCE],
            )
            for document in documents
        ]
        nodes = self._splitter.get_nodes_from_documents(whole)
        self._index = VectorStoreIndex(nodes, embed_model=self._embedding)
        return len(nodes)

    def retrieve(self, question: str, n_passages: int) -> list[Passage]:
        """The passages nearest to the question, best first."""
        assert self._index is not None
        found = self._index.as_retriever(similarity_top_k=n_passages).retrieve(question)
        return [
            Passage(document=hit.node.metadata[_SOURCE], text=hit.node.get_content(), score=hit.get_score())
            for hit in found
        ]

    def answer(self, question: str, passages: Sequence[Passage]) -> Iterator[str]:
        """The answer, piece by piece."""
        turns = rag_prompt.messages(question, [passage.text for passage in passages])
        for response in self._llm.stream_chat([ChatMessage(role=turn.role, content=turn.content) for turn in turns]):
            yield response.delta or ""


make = LlamaIndexRag
