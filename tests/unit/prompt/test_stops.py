from __future__ import annotations

import pytest

from llamaint import RequestError
from llamaint.prompt.stops import normalise_stops


def test_single_text_list_and_none_are_accepted():
    assert normalise_stops("\n") == ("\n",)
    assert normalise_stops(["a", "b"]) == ("a", "b")
    assert normalise_stops(None) == ()


def test_stops_of_the_template_follow_and_repeats_are_dropped():
    assert normalise_stops(["a", "b", "a"], ["b", "<|im_end|>"]) == ("a", "b", "<|im_end|>")


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        ("", r"stop\[0\] is empty"),
        (["a", ""], r"stop\[1\] is empty"),
        ([1], r"stop\[0\] must be a str; it is int"),
        (["\ud800"], "lone surrogate"),
        (5, "stop must be"),
        ([str(i) for i in range(65)], "65 stop strings; at most 64"),
    ],
)
def test_stop_that_cannot_work_is_refused(stop, words):
    with pytest.raises(RequestError, match=words):
        normalise_stops(stop)
