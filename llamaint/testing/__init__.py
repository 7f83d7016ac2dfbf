"""A fake engine with scripts: the real pipeline without a model.

```python
from llamaint.testing import FakeLlama, Script

llm = FakeLlama("It is 42.")                                  # the same answer to everything
llm = FakeLlama([Script(reply="first"), Script(fail_at=2)])   # one script per request, in order
llm = FakeLlama(lambda prompt: "yes" if "?" in prompt else "no")
llm.chat([{"role": "user", "content": "Is it?"}]).text        # 'yes'
llm.requests                                                  # what the engine was asked
```

Everything above the engine is what runs in production: prompt assembly, stop strings, streams,
event loops, cancellation, results. Only sampling settings do not change a script's answer.
"""

from llamaint.testing.fake_embedding import FakeEmbedding
from llamaint.testing.fake_llama import FakeLlama
from llamaint.testing.script import Script, ScriptLike

__all__ = ["FakeEmbedding", "FakeLlama", "Script", "ScriptLike"]
