from __future__ import annotations

import json

import numpy as np
import pytest

from llamaint.testing import FakeEmbedding


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def expected(*texts, **settings):
    with FakeEmbedding() as fake:
        return fake.embed(list(texts), **settings)


def test_json_line_holds_text_and_every_bit_of_the_vector(run, fakes):
    result = run("embed", "a red apple", 'quote " and é')
    found = rows(result.stdout)
    assert [row["text"] for row in found] == ["a red apple", 'quote " and é']
    vectors = np.array([row["embedding"] for row in found], dtype=np.float32)
    assert np.array_equal(vectors, expected("a red apple", 'quote " and é'))


def test_piped_lines_keep_their_order_and_empty_ones_count(run, fakes):
    result = run("embed", input="one\n\nthree\n")
    assert [row["text"] for row in rows(result.stdout)] == ["one", "", "three"]


def test_only_newlines_separate_lines(run, fakes, tmp_path):
    (tmp_path / "texts").write_bytes("one\u2028still one\r\ntwo".encode())
    result = run("embed", "--file", str(tmp_path / "texts"))
    assert [row["text"] for row in rows(result.stdout)] == ["one\u2028still one", "two"]


def test_npy_file_holds_float32_rows_and_stdout_stays_empty(run, fakes, tmp_path):
    result = run("embed", "one", "two", "--output", str(tmp_path / "v.npy"))
    assert result.stdout == ""
    vectors = np.load(tmp_path / "v.npy")
    assert vectors.dtype == np.float32
    assert np.array_equal(vectors, expected("one", "two"))


def test_jsonl_file_equals_what_stdout_would_show(run, fakes, tmp_path):
    run("embed", "one", "two", "-o", str(tmp_path / "v.jsonl"))
    assert (tmp_path / "v.jsonl").read_text("utf-8") == run("embed", "one", "two").stdout


def test_more_texts_than_a_batch_come_out_in_order(run, fakes, monkeypatch):
    monkeypatch.setattr("llamaint.cli.embed._BATCH", 3)
    texts = [f"text {i}" for i in range(8)]
    found = rows(run("embed", *texts).stdout)
    assert [row["text"] for row in found] == texts
    vectors = np.array([row["embedding"] for row in found], dtype=np.float32)
    assert np.array_equal(vectors, expected(*texts))


def test_raw_vectors_are_not_scaled(run, fakes):
    found = rows(run("embed", "a red apple", "--normalize", "0").stdout)[0]["embedding"]
    assert np.array_equal(np.float32(found), expected("a red apple", normalize=0)[0])
    assert abs(np.linalg.norm(found) - 1) > 1e-3


def test_text_that_is_too_long_fails_or_is_cut_when_asked(run, fakes, monkeypatch):
    import llamaint

    monkeypatch.setattr(llamaint, "LlamaEmbedding", lambda name, **settings: FakeEmbedding(n_ctx=8, **settings))
    long = "word " * 50
    failed = run("embed", "short", long)
    assert (failed.exit_code, failed.stdout) == (1, "")
    cut = run("embed", "--truncate", "short", long)
    assert cut.exit_code == 0
    assert "1 of 2 texts were cut" in cut.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["x", "--output", "v.txt"], ".npy or .jsonl"),
        (["x", "--pooling", "sum"], "auto, mean, cls or last"),
        ([], "no text"),
        (["x", "--file", __file__], "not both"),
    ],
)
def test_wrong_usage_is_explained_before_anything_is_loaded(run, fakes, arguments, complaint):
    result = run("embed", *arguments, input="")
    assert result.exit_code == 2
    assert complaint in " ".join(result.stderr.split())
    assert fakes.opened == []
