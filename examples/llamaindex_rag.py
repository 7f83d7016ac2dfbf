"""Ask a question about a folder of text files, with LlamaIndex and two local models.

python examples/llamaindex_rag.py --docs docs "How do I count tokens?"
"""

import argparse
from pathlib import Path

from llama_index.core import ChatPromptTemplate, Settings, SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.llms import ChatMessage
from llama_index.core.node_parser import SentenceSplitter

from llamaint_llamaindex import Llamaint, LlamaintEmbedding

PROMPT = ChatPromptTemplate(
    [
        ChatMessage(
            role="system", content="Answer from the context in one or two sentences. If it is not there, say so."
        ),
        ChatMessage(role="user", content="Context:\n{context_str}\n\nQuestion: {query_str}"),
    ]
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("question")
    parser.add_argument("--docs", type=Path, required=True, help="folder of .md and .txt files")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--embedding-model", default="minilm-l6")
    parser.add_argument("--k", type=int, default=3, help="passages given to the model")
    args = parser.parse_args()

    documents = SimpleDirectoryReader(args.docs, recursive=True, required_exts=[".md", ".txt"]).load_data()
    for document in documents:  # the text alone goes to the models
        document.excluded_embed_metadata_keys = document.excluded_llm_metadata_keys = list(document.metadata)
    llm = Llamaint(model=args.model, temperature=0, max_tokens=128, stop=["\nQuestion:"])
    embed_model = LlamaintEmbedding(model_name=args.embedding_model, truncate=True)
    Settings.tokenizer = llm.tokenizer
    index = VectorStoreIndex.from_documents(
        documents,
        embed_model=embed_model,
        transformations=[SentenceSplitter(chunk_size=200, chunk_overlap=20)],
    )

    engine = index.as_query_engine(llm=llm, similarity_top_k=args.k, streaming=True, text_qa_template=PROMPT)
    response = engine.query(args.question)
    for piece in response.response_gen:
        print(piece, end="", flush=True)

    print("\n\nSources:")
    for node in response.source_nodes:
        print(f"  {node.score:.3f}  {node.metadata['file_name']}: {node.text[:60]!r}")
    llm.close()
    embed_model.close()


if __name__ == "__main__":
    main()
