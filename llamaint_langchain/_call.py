"""One chat request, planned: the fields of the object, overridden by the keywords of the call."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from llamaint_langchain._convert import to_messages
from llamaint_langchain._sampling import SamplingFields, options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from langchain_core.messages import BaseMessage

    from llamaint.types import Message

# Keywords of one call beside the sampling parameters, as `llamaint.Llama.chat` names them.
_EXTRA = frozenset(
    {
        "cache_prompt",
        "chat_template_kwargs",
        "continue_final",
        "enable_thinking",
        "logits_processors",
    }
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ChatCall:
    """What goes to the runtime.

    Attributes:
        model: whose engine answers.
        options: keywords of `llamaint.Llama.chat`.
    """

    model: str
    messages: list[Message]
    options: dict[str, Any]

    @property
    def n(self) -> int:
        """How many answers."""
        n: int = self.options.get("n", 1)
        return n


class CallFields(SamplingFields):
    """How messages become a prompt, and how the model answers.

    Attributes:
        chat_template_kwargs: variables for the template.
        reasoning: ask a reasoning model to think, or not to; ``None`` leaves it to the model. Thoughts
            stand in ``additional_kwargs["reasoning_content"]``, not in the text.
    """

    chat_template_kwargs: dict[str, Any] | None = None
    reasoning: bool | None = None

    def _options(self, stop: list[str] | None, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Keywords of `llamaint.Llama.chat` for a call with these keywords."""
        given = {
            "chat_template_kwargs": self.chat_template_kwargs,
            "reasoning": self.reasoning,
            **kwargs,
        }
        given["enable_thinking"] = given.pop("reasoning")
        return options(self, stop, given, extra=_EXTRA)


def plan(
    fields: CallFields,
    model: str,
    messages: Sequence[BaseMessage],
    stop: list[str] | None,
    kwargs: Mapping[str, Any],
) -> ChatCall:
    """Plan a request.

    ``model`` answers unless ``kwargs`` names another; ``stream`` in ``kwargs`` is LangChain's own switch and
    was acted on already.
    """
    rest = {name: value for name, value in kwargs.items() if name not in ("model", "stream")}
    return ChatCall(
        model=kwargs.get("model") or model,
        messages=to_messages(messages),
        options=fields._options(stop, rest),
    )
