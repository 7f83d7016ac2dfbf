"""Text that can be sent to the native side."""

from __future__ import annotations

from llamaint.errors import RequestError


def check_text(text: object, where: str) -> str:
    """Return ``text``. Raises RequestError if it is no str, or has lone surrogates, which UTF-8 cannot express."""
    if not isinstance(text, str):
        raise RequestError(f"{where} must be a str; it is {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RequestError(
            f"{where} holds a lone surrogate at character {error.start}; it is not valid Unicode",
            position=error.start,
        ) from None
    return text


def decode_text(data: bytes, where: str) -> str:
    """UTF-8 bytes as text. Raises RequestError naming the first byte that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise RequestError(f"{where} is not valid UTF-8 at byte {error.start}", position=error.start) from None
