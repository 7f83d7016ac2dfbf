from __future__ import annotations

import pytest

from llamaint.cli.conversation import Conversation
from llamaint.cli.repl import run_repl
from llamaint.testing import FakeLlama, Script


def test_once_prints_the_answer_and_nothing_else(run, fakes):
    result = run("chat", "--once", "What is it?")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "The answer is 42.\n", "")


def test_piped_text_is_the_question(run, fakes):
    fakes.script = lambda prompt: "seen" if "two\nlines" in prompt else "not seen"
    assert run("chat", input="two\nlines").stdout == "seen\n"


def test_once_leaves_stdin_alone(run, fakes):
    fakes.script = lambda prompt: "piped" if "from the pipe" in prompt else "once"
    assert run("chat", "--once", "Hi", input="from the pipe").stdout == "once\n"


def test_system_prompt_comes_first(run, fakes):
    run("chat", "--system", "Be brief.", "--once", "Hi")
    prompt = fakes.llm.prompts[0]
    assert -1 < prompt.find("Be brief.") < prompt.find("Hi")


def test_options_reach_the_engine(run, fakes):
    run(
        *("chat", "--once", "Hi", "-m", "other.gguf", "--ctx", "512", "--threads", "2", "--gpu-layers", "0"),
        *("--temperature", "0", "--top-k", "7", "--top-p", "0.5", "--min-p", "0.1", "--seed", "0"),
        *("--repeat-penalty", "1.1", "-n", "5", "--stop", "A", "--stop", "B"),
    )
    name, settings = fakes.opened[0]
    assert name == "other.gguf"
    assert settings == {"n_ctx": 512, "n_threads": 2, "n_gpu_layers": 0, "n_parallel": 1}
    request = fakes.llm.requests[0]
    sampling = request.sampling
    assert (sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p) == (0, 7, 0.5, 0.1)
    assert (sampling.seed, sampling.repeat_penalty, request.max_tokens) == (0, 1.1, 5)
    assert {"A", "B"} <= set(request.stop)


def test_model_comes_from_the_environment(run, fakes, monkeypatch):
    monkeypatch.setenv("LLAMAINT_MODEL", "mine.gguf")
    run("chat", "--once", "Hi")
    assert fakes.opened[0][0] == "mine.gguf"


def test_cut_answer_is_noted_beside_the_result(run, fakes):
    result = run("chat", "--once", "Hi", "-n", "2")
    assert result.stdout == "The answer\n"
    assert "cut" in result.stderr


def test_stats_count_tokens_on_stderr(run, fakes):
    result = run("chat", "--once", "Hi", "--stats")
    assert "5 written" in result.stderr
    assert result.stdout == "The answer is 42.\n"


def test_engine_failure_in_the_middle_is_exit_code_1_after_the_text(run, fakes):
    fakes.script = Script(reply="one two three", fail_at=2)
    result = run("chat", "--once", "Hi")
    assert result.exit_code == 1
    assert result.stdout == "one two"
    assert result.stderr.startswith("error: ")


@pytest.fixture
def talk(monkeypatch, capsys):
    """Plays lines at the prompt; returns (stdout, stderr, the model)."""

    def play(lines, script="yes", **settings):
        typed = iter(lines)

        def read(prompt=""):
            line = next(typed, None)
            if line is None:
                raise EOFError
            if isinstance(line, BaseException):
                raise line
            return line

        monkeypatch.setattr("builtins.input", read)
        llm = FakeLlama(script, **settings)
        run_repl(Conversation(llm, system="Be kind.", options={}, stats=False))
        out, err = capsys.readouterr()
        return out, err, llm

    return play


def test_conversation_remembers_what_was_said(talk):
    _, _, llm = talk(["My name is Ada.", "What is my name?"], script=["Hello.", "Ada."])
    assert all(said in llm.prompts[1] for said in ("Be kind.", "My name is Ada.", "Hello."))


def test_reset_forgets_all_but_the_system_prompt(talk):
    _, _, llm = talk(["My name is Ada.", "/reset", "What is my name?"])
    assert "Ada" not in llm.prompts[1]
    assert "Be kind." in llm.prompts[1]


def test_quit_leaves_before_the_next_line(talk):
    out, _, llm = talk(["/quit", "Hi"])
    assert (out, llm.requests) == ("", [])


def test_help_lists_the_commands_without_asking_the_model(talk):
    _, err, llm = talk(["/help", "/nonsense", "  "])
    assert all(command in err for command in ("/reset", "/quit", "no command /nonsense"))
    assert llm.requests == []


def test_slash_inside_a_sentence_is_a_question(talk):
    _, _, llm = talk(["/etc/hosts holds what?"])
    assert len(llm.requests) == 1


def test_backslash_joins_lines(talk):
    _, _, llm = talk(["one\\", "two"])
    assert "one\ntwo" in llm.prompts[0]


def test_question_that_does_not_fit_is_reported_and_the_next_one_answered(talk):
    out, err, llm = talk(["word " * 300, "Hi"], n_ctx=128)
    assert "error: " in err
    assert "/reset" in err
    assert out == "yes\n"
    assert "word" not in llm.prompts[0]


def test_failed_question_is_not_remembered(talk):
    _, err, llm = talk(["word " * 300, "Hi"], n_ctx=128)
    assert err.count("error: ") == 1
    assert len(llm.requests) == 1
