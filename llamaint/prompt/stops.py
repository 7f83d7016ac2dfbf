"""Stop strings as the engine wants them."""

from __future__ import annotations

from collections.abc import Iterable

from llamaint.errors import RequestError
from llamaint.prompt.text import check_text

MAX_STOPS = 64


def normalise_stops(stop: object, extra: Iterable[str] = ()) -> tuple[str, ...]:
    """The caller's stop strings, then ``extra`` ones, each once.

    Raises:
        RequestError: an empty string, which would match at once; not a string; more than 64.
    """
    if stop is not None and not isinstance(stop, Iterable):
        raise RequestError(f"stop must be a str or a sequence of them; it is {type(stop).__name__}")
    stops = [] if stop is None else [stop] if isinstance(stop, str) else list(stop)
    for index, text in enumerate(stops):
        if not isinstance(text, str):
            raise RequestError(f"stop[{index}] must be a str; it is {type(text).__name__}")
        if not text:
            raise RequestError(f"stop[{index}] is empty; it would end every answer at once")
        check_text(text, f"stop[{index}]")
    unique = tuple(dict.fromkeys([*stops, *extra]))
    if len(unique) > MAX_STOPS:
        raise RequestError(
            f"there are {len(unique)} stop strings; at most {MAX_STOPS} are possible",
            n_stop=len(unique),
            max_stop=MAX_STOPS,
        )
    return unique
