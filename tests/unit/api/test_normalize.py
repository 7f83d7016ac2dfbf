"""Scaling of vectors: llama.cpp's choices, exact for any magnitude."""

from __future__ import annotations

import math

import numpy as np
import pytest

from llamaint import RequestError
from llamaint.api.normalize import check_normalize, normalize_rows

ROWS = np.array([[3.0, -4.0, 0.0], [1.0, 1.0, -1.0]], np.float32)


@pytest.mark.parametrize(
    ("given", "p"), [(True, 2), (False, -1), (2, 2), (-1, -1), (0, 0), (1, 1), (2.5, 2.5), (np.int64(3), 3)]
)
def test_the_choices_and_their_norms(given: object, p: float) -> None:
    assert check_normalize(given) == p


@pytest.mark.parametrize("given", [0.5, -2, -0.1, math.nan])
def test_a_number_that_is_no_norm_is_refused_with_its_value(given: float) -> None:
    with pytest.raises(RequestError, match=r"normalize must be .* it is"):
        check_normalize(given)


@pytest.mark.parametrize("given", ["2", None, [2]])
def test_something_that_is_no_number_is_a_type_error(given: object) -> None:
    with pytest.raises(TypeError, match="normalize"):
        check_normalize(given)


def test_none_leaves_the_rows_alone() -> None:
    np.testing.assert_array_equal(normalize_rows(ROWS, -1), ROWS)


def test_two_gives_unit_length() -> None:
    np.testing.assert_allclose(normalize_rows(ROWS, 2)[0], [0.6, -0.8, 0.0], rtol=1e-6)


def test_one_divides_by_the_sum_of_magnitudes() -> None:
    np.testing.assert_allclose(np.abs(normalize_rows(ROWS, 1)).sum(axis=1), 1.0, rtol=1e-6)


def test_zero_scales_the_largest_magnitude_for_int16() -> None:
    np.testing.assert_allclose(normalize_rows(ROWS, 0), [[24570, -32760, 0], [32760, 32760, -32760]], rtol=1e-6)


@pytest.mark.parametrize("p", [1.5, 3.0, 7.0, 50.0])
def test_p_gives_the_unit_p_norm(p: float) -> None:
    sums = (np.abs(normalize_rows(ROWS, p).astype(np.float64)) ** p).sum(axis=1)
    np.testing.assert_allclose(sums, 1.0, rtol=1e-4)


def test_infinity_divides_by_the_largest_magnitude() -> None:
    np.testing.assert_allclose(np.abs(normalize_rows(ROWS, math.inf)).max(axis=1), 1.0)


@pytest.mark.parametrize("p", [0, 1, 2, 3, 1000, math.inf])
@pytest.mark.parametrize("scale", [1e38, 1e-38, 1e-44])
def test_huge_and_tiny_rows_scale_like_others(p: float, scale: float) -> None:
    rows = np.array([[1.0, -2.0, 3.0]], np.float64)
    tiny_or_huge = (rows * scale).astype(np.float32)
    exact = normalize_rows((tiny_or_huge.astype(np.float64) / scale).astype(np.float32), p)
    np.testing.assert_allclose(normalize_rows(tiny_or_huge, p), exact, rtol=1e-5)


@pytest.mark.parametrize("p", [-1, 0, 1, 2, 3, math.inf])
def test_a_row_of_zeros_stays_zeros(p: float) -> None:
    rows = np.zeros((2, 4), np.float32)
    rows[1] = 1
    scaled = normalize_rows(rows, p)
    np.testing.assert_array_equal(scaled[0], 0)
    assert np.isfinite(scaled).all()


def test_no_rows_stay_no_rows() -> None:
    assert normalize_rows(np.zeros((0, 4), np.float32), 2).shape == (0, 4)


def test_the_result_is_float32_and_another_array() -> None:
    scaled = normalize_rows(ROWS, 2)
    assert scaled.dtype == np.float32
    assert not np.shares_memory(scaled, ROWS)
