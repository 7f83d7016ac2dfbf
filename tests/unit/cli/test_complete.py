from __future__ import annotations

import json

from llamaint.testing import Script


def test_continuation_is_printed_with_a_final_newline(run, fakes):
    result = run("complete", "Once")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "The answer is 42.\n", "")


def test_prompt_goes_to_the_model_without_a_template(run, fakes):
    run("complete", "Once upon a time")
    assert fakes.llm.prompts == ["Once upon a time"]


def test_piped_prompt_is_taken_as_it_is(run, fakes):
    run("complete", input="line one\nline two\n")
    assert fakes.llm.prompts == ["line one\nline two\n"]


def test_echo_begins_with_the_prompt(run, fakes):
    fakes.script = " upon a time"
    assert run("complete", "--echo", "Once").stdout == "Once upon a time\n"


def test_stop_ends_the_text_before_it(run, fakes):
    assert run("complete", "Once", "--stop", " is").stdout == "The answer\n"


def test_json_is_an_openai_shaped_object(run, fakes):
    result = json.loads(run("complete", "Once", "--json", "-n", "3").stdout)
    assert result["object"] == "text_completion"
    assert result["choices"][0]["text"] == "The answer is"
    assert result["choices"][0]["finish_reason"] == "length"
    assert result["usage"]["completion_tokens"] == 3


def test_pieces_that_cut_a_character_print_it_whole(run, fakes):
    fakes.script = Script(pieces=[b"caf", b"\xc3", b"\xa9"])
    assert run("complete", "Once").stdout == "café\n"


def test_control_characters_stay_in_a_pipe(run, fakes):
    fakes.script = "a\x1b[2Jb"
    assert run("complete", "Once").stdout == "a\x1b[2Jb\n"
