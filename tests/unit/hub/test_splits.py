from __future__ import annotations

import pytest

from llamaint.hub.splits import carries_tag, group_parts, is_model


@pytest.mark.parametrize(
    ("name", "tag", "expected"),
    [
        ("model-Q4_K_M.gguf", "Q4_K_M", True),
        ("model-Q4_K_M.gguf", "q4_k_m", True),
        ("model-Q4_K_M.gguf", "Q4_K", False),
        ("model.IQ4_XS.gguf", "Q4_XS", False),
        ("model_q8_0.gguf", "Q8_0", True),
        ("Q4_K_M/model-00001-of-00002.gguf", "Q4_K_M", True),
        ("model-UD-Q4_K_XL.gguf", "UD-Q4_K_XL", True),
        ("model-BF16.gguf", "F16", False),
    ],
)
def test_tag_matches_whole_words_only(name, tag, expected):
    assert carries_tag(name, tag) is expected


def test_parts_form_one_group_and_single_files_their_own():
    names = ["b.gguf", "a-00002-of-00002.gguf", "a-00001-of-00002.gguf"]
    assert group_parts(names) == {
        "a-00001-of-00002.gguf": ["a-00001-of-00002.gguf", "a-00002-of-00002.gguf"],
        "b.gguf": ["b.gguf"],
    }


def test_projectors_are_not_models():
    assert not is_model("mmproj-model-f16.gguf")
    assert not is_model("model.mmproj-Q8_0.gguf".replace(".mm", "-mm"))
    assert is_model("sub/model-f16.gguf")


@pytest.mark.parametrize("name", ["a-00001-of-00000.gguf", "a-00003-of-00002.gguf"])
def test_impossible_part_number_is_an_ordinary_name(name):
    assert group_parts([name]) == {name: [name]}
