"""A process that opens model files named on its standard input and says how it went, one line each.

Run as ``python -m tests.support.load_worker``. It answers ``ok`` or the code of the error. Its death is
what the tests look for.
"""

from __future__ import annotations

import sys

from llamaint import _native

_PROMPT = "The quick brown fox"


def _generate(model: _native.Model) -> None:
    context = _native.ContextParams(n_ctx=256, n_threads=2)
    engine = _native.Engine(model, _native.EngineParams(context=context, n_parallel=2))
    tokens = model.tokenize(_PROMPT, True, False) or [0]
    request = _native.GenerationRequest(prompt=tokens[:64], max_tokens=4, logprobs=1)
    handle = engine.submit(request)
    while not handle.done:
        for chunk in handle.wait(1.0):
            if chunk.error is not None:
                raise RuntimeError(chunk.error[0])
    engine.close()


def _embed(model: _native.Model) -> None:
    params = _native.EmbedParams(context=_native.ContextParams(n_ctx=256, n_threads=2))
    engine = _native.EmbedEngine(model, params)
    handle = engine.submit([(model.tokenize(_PROMPT, True, False) or [0])[:64]])
    while not handle.wait(1.0):
        pass
    handle.result()
    engine.close()


def open_and_use(path: str) -> str:
    """Load the file and run what it is for. Returns "ok" or the error's code."""
    try:
        model = _native.Model.load(path, _native.ModelParams(check_tensors=True))
        info = model.info()
        if info["chat_template"]:
            _native.ChatTemplates(model, "").render('[{"role": "user", "content": "Hi"}]', _native.ChatOptions())
        model.detokenize(model.tokenize(_PROMPT, True, True), False, True)
        model.grammar_from_json_schema('{"type": "integer"}')
        if info["pooling"] in (None, "none"):
            _generate(model)
        else:
            _embed(model)
    except _native.NativeError as error:
        return error.code
    except (RuntimeError, MemoryError) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return "ok"


def main() -> None:
    for line in sys.stdin:
        path = line.rstrip("\n")
        print(open_and_use(path), flush=True)
        _native.drain_log(0)


if __name__ == "__main__":
    main()
