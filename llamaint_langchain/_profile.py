"""What a model can do, in LangChain's vocabulary, read off the loaded engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from langchain_core.language_models import ModelProfile

if TYPE_CHECKING:
    import llamaint


def unloaded_profile() -> ModelProfile:
    """What is true of every model this version runs, known before the file is opened."""
    return ModelProfile(
        open_weights=True,
        text_inputs=True,
        text_outputs=True,
        temperature=True,
        image_inputs=False,
        image_url_inputs=False,
        audio_inputs=False,
        video_inputs=False,
        pdf_inputs=False,
        image_outputs=False,
        audio_outputs=False,
        video_outputs=False,
        tool_calling=False,
        structured_output=False,
    )


def loaded_profile(llm: llamaint.Llama) -> ModelProfile:
    """The same with the window of the loaded engine, in tokens."""
    n_ctx = cast("int", llm.info["n_ctx"])
    return ModelProfile(**{**unloaded_profile(), "max_input_tokens": n_ctx, "max_output_tokens": n_ctx})
