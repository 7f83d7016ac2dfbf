"""Ask a question about a folder of text files, with LangChain and two local models.

python examples/langchain_rag.py --docs docs "How do I count tokens?"
"""

import argparse
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.vectorstores import InMemoryVectorStore

from llamaint_langchain import ChatLlamaint, LlamaintEmbeddings

PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer from the context in one or two sentences. If it is not there, say so."),
        ("user", "Context:\n{context}\n\nQuestion: {question}"),
    ]
)


def read_paragraphs(folder: Path) -> list[Document]:
    """Paragraphs of every .md and .txt file, each short enough for the embedding model."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".txt"))
    return [
        Document(page_content=paragraph.strip(), metadata={"source": path.name})
        for path in paths
        for paragraph in path.read_text(encoding="utf-8").split("\n\n")
        if paragraph.strip()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("question")
    parser.add_argument("--docs", type=Path, required=True, help="folder of .md and .txt files")
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--embedding-model", default="minilm-l6")
    parser.add_argument("--k", type=int, default=3, help="paragraphs given to the model")
    args = parser.parse_args()

    paragraphs = read_paragraphs(args.docs)
    if not paragraphs:
        parser.error(f"no .md or .txt files in {args.docs}")
    embeddings = LlamaintEmbeddings(model=args.embedding_model, truncate=True)
    store = InMemoryVectorStore(embeddings)
    store.add_documents(paragraphs)
    found = store.similarity_search_with_score(args.question, k=args.k)

    chat = ChatLlamaint(model=args.model, temperature=0, max_tokens=128, stop=["\nQuestion:"])
    chain = PROMPT | chat | StrOutputParser()
    context = "\n\n".join(document.page_content for document, _ in found)
    for piece in chain.stream({"context": context, "question": args.question}):
        print(piece, end="", flush=True)

    print("\n\nSources:")
    for document, score in found:
        print(f"  {score:.3f}  {document.metadata['source']}: {document.page_content[:60]!r}")
    chat.close()
    embeddings.close()


if __name__ == "__main__":
    main()
