"""
llama.cpp for llamaint: models, chat templates, sampling and the engine. Used by llamaint.backend alone.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing

__all__: list[str] = [
    "ChatOptions",
    "ChatTemplates",
    "Chunk",
    "ContextParams",
    "EmbedEngine",
    "EmbedHandle",
    "EmbedParams",
    "Engine",
    "EngineParams",
    "GenerationRequest",
    "Grammar",
    "Handle",
    "Model",
    "ModelParams",
    "NativeError",
    "RenderedChat",
    "ReplyDelta",
    "ReplyParser",
    "Sampler",
    "SamplingParams",
    "available_memory",
    "build_info",
    "devices",
    "drain_log",
    "log_dropped",
    "scan_gguf",
    "usable_cores",
    "wake_log",
]

class NativeError(RuntimeError):
    """
    Every error of the native core. `code` is the code of a class in llamaint.errors, `numbers` the figures behind the message.
    """

    code: str
    numbers: dict[str, float]

class ModelParams:
    """
    How weights are loaded and where they live; core/model.h.
    """

    check_tensors: bool
    cpu_moe: bool
    load_mode: str
    load_mtp: bool
    no_host: bool
    split_mode: str
    use_extra_bufts: bool
    vocab_only: bool
    def __init__(self, **kwargs: typing.Any) -> None: ...
    @property
    def devices(self) -> list[str]: ...
    @devices.setter
    def devices(self, arg1: collections.abc.Sequence[str]) -> None: ...
    @property
    def kv_overrides(self) -> dict[str, bool | int | float | str]: ...
    @kv_overrides.setter
    def kv_overrides(
        self,
        arg1: collections.abc.Mapping[
            str, bool | typing.SupportsInt | typing.SupportsIndex | typing.SupportsFloat | typing.SupportsIndex | str
        ],
    ) -> None: ...
    @property
    def main_gpu(self) -> int: ...
    @main_gpu.setter
    def main_gpu(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_cpu_moe(self) -> int: ...
    @n_cpu_moe.setter
    def n_cpu_moe(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_gpu_layers(self) -> int: ...
    @n_gpu_layers.setter
    def n_gpu_layers(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def tensor_buft_overrides(self) -> list[tuple[str, str]]: ...
    @tensor_buft_overrides.setter
    def tensor_buft_overrides(self, arg1: collections.abc.Sequence[tuple[str, str]]) -> None: ...
    @property
    def tensor_split(self) -> list[float]: ...
    @tensor_split.setter
    def tensor_split(self, arg1: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex]) -> None: ...

class ContextParams:
    """
    The memory, batching and threads of a context; core/context.h.
    """

    attention: str
    embeddings: bool
    flash_attn: str
    kv_unified: bool
    no_perf: bool
    offload_kqv: bool
    op_offload: bool
    pooling: str
    rope_scaling: str
    swa_full: bool
    type_k: str
    type_v: str
    def __init__(self, **kwargs: typing.Any) -> None: ...
    @property
    def n_batch(self) -> int: ...
    @n_batch.setter
    def n_batch(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_ctx(self) -> int: ...
    @n_ctx.setter
    def n_ctx(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_seq_max(self) -> int: ...
    @n_seq_max.setter
    def n_seq_max(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_threads(self) -> int: ...
    @n_threads.setter
    def n_threads(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_threads_batch(self) -> int: ...
    @n_threads_batch.setter
    def n_threads_batch(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_ubatch(self) -> int: ...
    @n_ubatch.setter
    def n_ubatch(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def rope_freq_base(self) -> float: ...
    @rope_freq_base.setter
    def rope_freq_base(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def rope_freq_scale(self) -> float: ...
    @rope_freq_scale.setter
    def rope_freq_scale(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def yarn_attn_factor(self) -> float: ...
    @yarn_attn_factor.setter
    def yarn_attn_factor(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def yarn_beta_fast(self) -> float: ...
    @yarn_beta_fast.setter
    def yarn_beta_fast(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def yarn_beta_slow(self) -> float: ...
    @yarn_beta_slow.setter
    def yarn_beta_slow(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def yarn_ext_factor(self) -> float: ...
    @yarn_ext_factor.setter
    def yarn_ext_factor(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def yarn_orig_ctx(self) -> int: ...
    @yarn_orig_ctx.setter
    def yarn_orig_ctx(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...

class SamplingParams:
    """
    How the next token is chosen; core/sampler.h.
    """

    ignore_eos: bool
    def __init__(self, **kwargs: typing.Any) -> None: ...
    @property
    def adaptive_decay(self) -> float: ...
    @adaptive_decay.setter
    def adaptive_decay(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def adaptive_target(self) -> float: ...
    @adaptive_target.setter
    def adaptive_target(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def dry_allowed_length(self) -> int: ...
    @dry_allowed_length.setter
    def dry_allowed_length(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def dry_base(self) -> float: ...
    @dry_base.setter
    def dry_base(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def dry_multiplier(self) -> float: ...
    @dry_multiplier.setter
    def dry_multiplier(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def dry_penalty_last_n(self) -> int: ...
    @dry_penalty_last_n.setter
    def dry_penalty_last_n(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def dry_sequence_breakers(self) -> list[str]: ...
    @dry_sequence_breakers.setter
    def dry_sequence_breakers(self, arg1: collections.abc.Sequence[str]) -> None: ...
    @property
    def dynatemp_exponent(self) -> float: ...
    @dynatemp_exponent.setter
    def dynatemp_exponent(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def dynatemp_range(self) -> float: ...
    @dynatemp_range.setter
    def dynatemp_range(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def frequency_penalty(self) -> float: ...
    @frequency_penalty.setter
    def frequency_penalty(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def logit_bias(self) -> list[tuple[int, float]]: ...
    @logit_bias.setter
    def logit_bias(
        self,
        arg1: collections.abc.Sequence[
            tuple[typing.SupportsInt | typing.SupportsIndex, typing.SupportsFloat | typing.SupportsIndex]
        ],
    ) -> None: ...
    @property
    def min_keep(self) -> int: ...
    @min_keep.setter
    def min_keep(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def min_p(self) -> float: ...
    @min_p.setter
    def min_p(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def mirostat(self) -> int: ...
    @mirostat.setter
    def mirostat(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def mirostat_eta(self) -> float: ...
    @mirostat_eta.setter
    def mirostat_eta(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def mirostat_tau(self) -> float: ...
    @mirostat_tau.setter
    def mirostat_tau(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def penalty_last_n(self) -> int: ...
    @penalty_last_n.setter
    def penalty_last_n(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def presence_penalty(self) -> float: ...
    @presence_penalty.setter
    def presence_penalty(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def repeat_penalty(self) -> float: ...
    @repeat_penalty.setter
    def repeat_penalty(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def samplers(self) -> list[str]: ...
    @samplers.setter
    def samplers(self, arg1: collections.abc.Sequence[str]) -> None: ...
    @property
    def seed(self) -> int: ...
    @seed.setter
    def seed(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def temperature(self) -> float: ...
    @temperature.setter
    def temperature(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def top_k(self) -> int: ...
    @top_k.setter
    def top_k(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def top_n_sigma(self) -> float: ...
    @top_n_sigma.setter
    def top_n_sigma(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def top_p(self) -> float: ...
    @top_p.setter
    def top_p(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def typical_p(self) -> float: ...
    @typical_p.setter
    def typical_p(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def xtc_probability(self) -> float: ...
    @xtc_probability.setter
    def xtc_probability(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def xtc_threshold(self) -> float: ...
    @xtc_threshold.setter
    def xtc_threshold(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...

class Grammar:
    """
    A grammar compiled for one model's vocabulary. Immutable.
    """
    def after(self, tokens: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> Grammar:
        """
        The same grammar after it has read `tokens`, which the prompt ends with.
        """
    @property
    def gbnf(self) -> str: ...

class Model:
    """
    A loaded model and its vocabulary. Immutable; usable from any thread.
    """
    @staticmethod
    def load(path: str, params: ModelParams, progress: collections.abc.Callable[[float], bool] | None = None) -> Model:
        """
        `progress` gets 0..1 while weights load; False stops the load, exceptions pass through.
        """
    def detokenize(
        self,
        tokens: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex],
        remove_special: bool,
        unparse_special: bool,
    ) -> bytes: ...
    def grammar_from_gbnf(self, gbnf: str) -> Grammar: ...
    def grammar_from_json_schema(self, schema: str) -> Grammar: ...
    def info(self) -> dict[str, typing.Any]: ...
    def metadata(self) -> dict[str, str]:
        """
        The scalars of the file's metadata as text.
        """
    def token_to_piece(self, token: typing.SupportsInt | typing.SupportsIndex, special: bool) -> bytes: ...
    def tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]: ...

class Sampler:
    """
    The sampling state of one sequence, without an engine. One thread at a time.
    """
    def __init__(
        self,
        model: Model,
        params: SamplingParams,
        grammar: Grammar | None = None,
        n_ctx: typing.SupportsInt | typing.SupportsIndex = 4096,
    ) -> None: ...
    def accept(self, token: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def accept_prompt(self, tokens: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None:
        """
        Lets penalties and DRY see the prompt; the grammar does not.
        """
    def clone(self) -> Sampler: ...
    def sample(
        self,
        logits: typing.Annotated[numpy.typing.ArrayLike, numpy.float32],
        n_top: typing.SupportsInt | typing.SupportsIndex = -1,
    ) -> tuple[int, float, float, list[tuple[int, float]]]:
        """
        (token, raw log-probability, log-probability after the chain, the n_top most likely) of float32 [n_vocab]; the log-probabilities are 0 when n_top is -1.
        """
    @property
    def seed(self) -> int: ...

class ChatOptions:
    """
    How messages are rendered and replies are read; core/chat.h.
    """

    add_generation_prompt: bool
    continue_final: bool
    enable_thinking: bool
    grammar: str
    json_schema: str
    parallel_tool_calls: bool
    reasoning_format: str
    tool_choice: str
    tools_json: str
    def __init__(self, **kwargs: typing.Any) -> None: ...
    @property
    def template_kwargs(self) -> dict[str, str]: ...
    @template_kwargs.setter
    def template_kwargs(self, arg1: collections.abc.Mapping[str, str]) -> None: ...

class ReplyDelta:
    """
    What became certain of a reply since the last feed().
    """
    @property
    def content(self) -> str: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def tool_calls(self) -> list[tuple[int, str, str, str]]:
        """
        (index, id, name, arguments): the name stands in a call's first delta, the arguments grow.
        """

class ReplyParser:
    """
    Content, reasoning and tool calls of one growing reply.
    """
    def feed(self, text: str, final: bool) -> ReplyDelta: ...
    @property
    def parse_failed(self) -> bool: ...

class RenderedChat:
    """
    A prompt and how its reply is to be read.
    """
    @property
    def format(self) -> str: ...
    @property
    def grammar(self) -> str: ...
    @property
    def grammar_lazy(self) -> bool: ...
    @property
    def grammar_prefix(self) -> str: ...
    @property
    def preserved(self) -> list[str]: ...
    @property
    def prompt(self) -> str: ...
    @property
    def stops(self) -> list[str]: ...
    @property
    def supports_thinking(self) -> bool: ...

class ChatTemplates:
    """
    The chat template of a model. Thread-safe.
    """
    def __init__(self, model: Model, source: str = "") -> None:
        """
        `source` "" takes the model file's template, ChatML when it has none.
        """
    def capabilities(self) -> dict[str, bool]: ...
    def make_parser(self, chat: RenderedChat, options: ChatOptions) -> ReplyParser: ...
    def render(self, messages_json: str, options: ChatOptions) -> RenderedChat: ...
    @property
    def from_model(self) -> bool: ...
    @property
    def source(self) -> str: ...

class EngineParams:
    """
    Settings of an Engine; see native/engine/engine.h.
    """

    adaptive_threads: bool
    context: ContextParams
    deterministic: bool
    prefix_cache: bool
    def __init__(self, **kwargs: typing.Any) -> None: ...
    @property
    def max_queue(self) -> int: ...
    @max_queue.setter
    def max_queue(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_cache_slots(self) -> int: ...
    @n_cache_slots.setter
    def n_cache_slots(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n_parallel(self) -> int: ...
    @n_parallel.setter
    def n_parallel(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...

class GenerationRequest:
    """
    What to generate; see native/engine/request.h.
    """

    cache_prompt: bool
    echo_special: bool
    grammar: Grammar | None
    sampling: SamplingParams
    stream: bool
    def __init__(self, **kwargs: typing.Any) -> None: ...
    def set_logits_processors(
        self, callables: collections.abc.Sequence[collections.abc.Callable[..., typing.Any]]
    ) -> None:
        """
        Callables `(tokens: int32 [n], logits: float32 [n_vocab]) -> None` that edit `logits` in place, in order, before each token is chosen. They run on the engine thread, with the GIL taken once per row.
        """
    @property
    def deadline_s(self) -> float: ...
    @deadline_s.setter
    def deadline_s(self, arg1: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def logprobs(self) -> int: ...
    @logprobs.setter
    def logprobs(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def max_tokens(self) -> int: ...
    @max_tokens.setter
    def max_tokens(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def n(self) -> int: ...
    @n.setter
    def n(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def preserved_tokens(self) -> list[int]: ...
    @preserved_tokens.setter
    def preserved_tokens(self, arg1: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None: ...
    @property
    def prompt(self) -> list[int]: ...
    @prompt.setter
    def prompt(self, arg1: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]) -> None: ...
    @property
    def stop(self) -> list[str]: ...
    @stop.setter
    def stop(self, arg1: collections.abc.Sequence[str]) -> None: ...

class Chunk:
    """
    What one choice produced since the last take.
    """
    @property
    def choice(self) -> int: ...
    @property
    def error(self) -> tuple[str, str, dict[str, float]] | None:
        """
        (code, message, numbers) with finish == 'error'.
        """
    @property
    def finish(self) -> str | None:
        """
        stop, length, cancelled, deadline or error; None while the choice goes on.
        """
    @property
    def logprobs(self) -> list[tuple[int, float, float, list[tuple[int, float]]]]:
        """
        (token, raw, sampled, [(token, raw)...]) per token, natural logarithms; empty unless asked for.
        """
    @property
    def stop_text(self) -> typing.Any: ...
    @property
    def text(self) -> str:
        """
        Valid UTF-8, never part of a stop string.
        """
    @property
    def timings(self) -> dict[str, float] | None:
        """
        Seconds and counts of the choice, with its last chunk.
        """
    @property
    def tokens(self) -> list[int]: ...

class Handle:
    """
    A running request. Any thread may use it.
    """
    def cancel(self) -> None:
        """
        Asks the engine to end the request; it answers with chunks whose finish is 'cancelled'.
        """
    def take(self) -> list[Chunk]:
        """
        Chunks that are there now, perhaps none.
        """
    def wait(self, timeout_s: typing.SupportsFloat | typing.SupportsIndex) -> list[Chunk]:
        """
        Waits for chunks, at most `timeout_s` seconds; [] on timeout and when everything has been taken.
        """
    def watch(self) -> None:
        """
        From now on the id comes out of Engine.wait_ready whenever there is something to take.
        """
    @property
    def done(self) -> bool:
        """
        Every choice has ended and every chunk was taken.
        """
    @property
    def id(self) -> int: ...

class Engine:
    """
    Continuous batching over one context, on a thread that never holds the GIL.
    """
    def __init__(self, model: Model, params: EngineParams) -> None: ...
    def close(self) -> None:
        """
        Ends every request with 'closed', stops a running decode and joins the thread. Idempotent.
        """
    def info(self) -> dict[str, typing.Any]: ...
    def metrics(self) -> dict[str, typing.Any]:
        """
        Counters since the start and gauges of the last step.
        """
    def submit(self, request: GenerationRequest) -> Handle:
        """
        Queues a request. Raises for requests that can be refused at once.
        """
    def wait_ready(self, timeout_s: typing.SupportsFloat | typing.SupportsIndex) -> list[int]:
        """
        Ids of watched handles with something to take; [] on timeout. For one waiting thread.
        """
    @property
    def closed(self) -> bool: ...

class EmbedParams:
    """
    Settings of an EmbedEngine; see native/engine/embed_engine.h.
    """

    context: ContextParams
    pooling: str
    def __init__(self, **kwargs: typing.Any) -> None: ...
    @property
    def n_workers(self) -> int: ...
    @n_workers.setter
    def n_workers(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    @property
    def pack_tokens(self) -> int: ...
    @pack_tokens.setter
    def pack_tokens(self, arg1: typing.SupportsInt | typing.SupportsIndex) -> None: ...

class EmbedHandle:
    """
    A job of texts. Any thread may use it.
    """
    def cancel(self) -> None:
        """
        Ends the job with 'cancelled' at once, if it still runs.
        """
    def result(self) -> typing.Any:
        """
        float32 [n_texts, n_embd_out]; with pooling 'none' a list of [n_tokens, n_embd_out] per text. Waits for the end of the job and raises its error. Calls return views of the same memory.
        """
    def wait(self, timeout_s: typing.SupportsFloat | typing.SupportsIndex) -> bool:
        """
        True: the job has ended and result() will not block.
        """
    def watch(self) -> None:
        """
        The id comes out of EmbedEngine.wait_ready when the job has ended.
        """
    @property
    def id(self) -> int: ...

class EmbedEngine:
    """
    Embeds texts of many jobs in shared decodes, on threads that never hold the GIL.
    """
    def __init__(self, model: Model, params: EmbedParams) -> None: ...
    def close(self) -> None:
        """
        Ends every job with 'closed', stops running decodes and joins the threads. Idempotent.
        """
    def info(self) -> dict[str, typing.Any]: ...
    def metrics(self) -> dict[str, float]:
        """
        Counters since the start.
        """
    def submit(
        self, texts: collections.abc.Sequence[collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex]]
    ) -> EmbedHandle:
        """
        Queues texts given as token ids; one without tokens gets zeros.
        """
    def wait_ready(self, timeout_s: typing.SupportsFloat | typing.SupportsIndex) -> list[int]:
        """
        Ids of watched jobs that have ended; [] on timeout. For one waiting thread.
        """
    @property
    def closed(self) -> bool: ...

def available_memory() -> int:
    """
    Main memory this process can still get, in bytes; 0 when unknown.
    """

def build_info() -> dict[str, typing.Any]:
    """
    llama_cpp_version, llama_cpp_commit, compiler, system_info; gpu_offload, mmap, mlock, rpc.
    """

def devices() -> list[dict[str, typing.Any]]:
    """
    The devices of this build: name, description, type (cpu, gpu, igpu, accel), backend, memory_free and memory_total in bytes.
    """

def drain_log(timeout_s: typing.SupportsFloat | typing.SupportsIndex) -> list[tuple[int, str]]:
    """
    Takes the (logging level, line) pairs written so far; waits up to `timeout_s` seconds for a first one.
    """

def log_dropped() -> int:
    """
    Lines lost since the start because nobody drained the log.
    """

def scan_gguf(path: str) -> dict[str, typing.Any]:
    """
    A model file without loading it: arch, version, metadata (long arrays as "<n values>"), n_tensors, tensor_types, tensor_bytes, file_bytes. Raises for the files that Model.load would refuse by their metadata.
    """

def usable_cores() -> int:
    """
    Physical cores this process may run on (affinity and cgroup quota counted), at least 1.
    """

def wake_log() -> None:
    """
    Lets one drain_log() that waits now, or the next one, return at once.
    """
