#include "loop.h"

#include "admission.h"
#include "core/machine.h"
#include "scheduler.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace llamaint {

namespace {

uint64_t microseconds_since(Clock::time_point start) {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
}

}  // namespace

Loop::Loop(Context & context, const Options & options, const Slots::Options & slot_options, AbortGate & gate,
           Metrics & metrics)
    : context_(context), options_(options), slots_(context, slot_options), gate_(gate), metrics_(metrics),
      governor_(context.params().n_threads, options.adaptive_threads, runnable_threads),
      batch_(llama_batch_init(static_cast<int32_t>(options.max_rows), 0, 1)), row_limit_(options.max_rows) {}

Loop::~Loop() {
    llama_batch_free(batch_);
}

void Loop::add(std::shared_ptr<Request> request) {
    auto leader = std::make_unique<Sequence>(request, 0);
    for (int32_t choice = 1; choice < request->spec.n; choice++) {
        leader->siblings.push_back(std::make_unique<Sequence>(request, choice));
    }
    metrics_.requests++;
    waiting_.push_back(std::move(leader));
    if (request->spec.max_tokens == 0) {
        finish(*waiting_.back(), Finish::length);
    }
}

void Loop::wake() {
    governor_.begin();
}

bool Loop::step() {
    sweep();
    admit();
    if (running_.empty()) {
        publish();
        return false;
    }
    make_room();
    std::vector<Planned> planned = plan();
    switch (decode(planned)) {
    case Decoded::ok:
        commit(planned);
        break;
    case Decoded::no_room:
        after_no_room(planned);
        break;
    case Decoded::aborted:
        metrics_.aborted_steps++;
        undo(planned);
        break;
    case Decoded::failed:
        metrics_.failed_steps++;
        undo(planned);
        isolate(planned);
        break;
    }
    reap();
    publish();
    return true;
}

void Loop::fail_all(const Error & error) {
    for (const auto & sequence : running_) {
        finish(*sequence, Finish::error, std::make_shared<Error>(error));
    }
    for (const auto & sequence : waiting_) {
        finish(*sequence, Finish::error, std::make_shared<Error>(error));
    }
    reap();
    publish();
}

// Ends what was cancelled or ran past its deadline.
void Loop::sweep() {
    const auto now = Clock::now();
    const auto check = [&](Sequence & sequence) {
        const Request & request = *sequence.request;
        if (request.handle->cancelled()) {
            finish(sequence, Finish::cancelled);
        } else if (request.deadline && now >= *request.deadline) {
            finish(sequence, Finish::deadline);
        }
    };
    for (const auto & sequence : running_) {
        check(*sequence);
    }
    for (const auto & sequence : waiting_) {
        check(*sequence);
    }
    reap();
}

void Loop::admit() {
    while (!waiting_.empty()) {
        AdmissionView view{};
        view.n_running = static_cast<uint32_t>(running_.size());
        view.n_parallel = options_.n_parallel;
        view.free_cells = slots_.reachable_cells();
        view.promised_cells = 0;
        const auto wanted = [&](const Sequence & s) {
            return wanted_cells(s.n_pending(), s.n_remaining(context_.n_ctx_seq()));
        };
        for (const auto & sequence : running_) {
            view.promised_cells += wanted(*sequence);
        }
        view.wanted_cells = wanted(*waiting_.front());
        if (!may_start(view)) {
            return;
        }
        SequencePtr sequence = std::move(waiting_.front());
        waiting_.pop_front();
        std::vector<Slots::Running> running;
        for (const auto & other : running_) {
            running.push_back({ other->slot, &other->tokens, other->n_committed });
        }
        const auto [slot, n_reused] = slots_.acquire(sequence->tokens, sequence->request->spec.cache_prompt, running);
        start(std::move(sequence), slot, n_reused);
    }
}

void Loop::start(SequencePtr sequence, int32_t slot, uint32_t n_reused) {
    sequence->slot = slot;
    sequence->n_committed = n_reused;
    if (!sequence->started) {
        sequence->n_cached = std::min(n_reused, sequence->n_prompt);
        metrics_.cached_tokens += sequence->n_cached;
    }
    const auto older = [](const SequencePtr & a, const SequencePtr & b) {
        return std::make_pair(a->request->submitted, a->choice) < std::make_pair(b->request->submitted, b->choice);
    };
    running_.insert(std::upper_bound(running_.begin(), running_.end(), sequence, older), std::move(sequence));
}

// Makes sure that every generating sequence, and at least one row, has a cell: first finished sequences
// go, then the youngest running ones, which evaluate their tokens again later.
void Loop::make_room() {
    for (;;) {
        uint32_t n_needed = 0;
        uint32_t n_wanted = 0;
        for (const auto & sequence : running_) {
            n_needed += sequence->generating() ? 1 : 0;
            n_wanted += sequence->n_pending();
        }
        n_needed = std::max(n_needed, 1u);
        n_wanted = std::min(n_wanted, row_limit_);
        const uint32_t n_free = slots_.free_cells();
        if (n_free >= n_wanted) {
            return;
        }
        if (slots_.evict_one()) {
            metrics_.evictions++;
        } else if (n_free < n_needed && running_.size() > 1) {
            preempt_youngest();
        } else {
            return;
        }
    }
}

void Loop::preempt_youngest() {
    SequencePtr sequence = std::move(running_.back());
    running_.pop_back();
    slots_.release(sequence->slot, sequence->tokens, sequence->n_committed, false);
    sequence->slot = -1;
    sequence->n_committed = 0;
    waiting_.push_front(std::move(sequence));
    metrics_.preemptions++;
}

std::vector<Loop::Planned> Loop::plan() {
    // After a failed batch each of its sequences runs by itself, so that only the guilty one fails again.
    std::vector<Sequence *> candidates;
    for (const auto & sequence : running_) {
        if (sequence->alone) {
            candidates = { sequence.get() };
            break;
        }
        candidates.push_back(sequence.get());
    }
    std::vector<SeqView> views;
    for (const Sequence * sequence : candidates) {
        views.push_back({ sequence->n_pending(), sequence->generating() });
    }
    StepBudget budget{};
    budget.max_rows = row_limit_;
    budget.free_cells = slots_.free_cells();
    budget.prefill_rows = options_.prefill_rows;
    budget.fair_rows = std::max<uint32_t>(32, options_.prefill_rows / std::max<size_t>(1, views.size()));

    const std::vector<uint32_t> rows = plan_rows(views, budget);
    std::vector<Planned> planned;
    for (size_t i = 0; i < rows.size(); i++) {
        if (rows[i] > 0) {
            planned.push_back({ candidates[i], rows[i], -1 });
        }
    }
    // Where each sequence has a stream of its own, llama.cpp evaluates only neighbours at once, in rising order.
    std::sort(planned.begin(), planned.end(),
              [](const Planned & a, const Planned & b) { return a.sequence->slot < b.sequence->slot; });
    return planned;
}

Loop::Decoded Loop::decode(std::vector<Planned> & planned) {
    const auto start = Clock::now();
    std::vector<std::shared_ptr<const CancelFlag>> handles;
    batch_.n_tokens = 0;
    for (auto & item : planned) {
        Sequence & sequence = *item.sequence;
        handles.push_back(sequence.request->handle);
        if (!sequence.started) {
            sequence.started = start;
        }
        for (uint32_t i = 0; i < item.n_rows; i++) {
            const int32_t row = batch_.n_tokens++;
            const uint32_t pos = sequence.n_committed + i;
            batch_.token[row] = sequence.tokens[pos];
            batch_.pos[row] = static_cast<llama_pos>(pos);
            batch_.n_seq_id[row] = 1;
            batch_.seq_id[row][0] = sequence.slot;
            batch_.logits[row] = pos + 1 == sequence.tokens.size();
            if (batch_.logits[row]) {
                item.output_row = row;
            }
        }
    }
    if (batch_.n_tokens == 0) {
        return Decoded::no_room;
    }
    const int32_t n_threads = threads_for(planned);
    context_.set_n_threads(n_threads, n_threads);

    gate_.enter(std::move(handles));
    int32_t result = 0;
    try {
        result = llama_decode(context_.handle(), batch_);
    } catch (const std::exception & exception) {
        result = -3;
        failure_ = exception.what();
    }
    gate_.leave();

    metrics_.steps++;
    metrics_.decode_us += microseconds_since(start);
    switch (result) {
    case 0:
        governor_.observe(static_cast<uint32_t>(batch_.n_tokens),
                          std::chrono::duration<double>(Clock::now() - start).count());
        return Decoded::ok;
    case 1:
        return Decoded::no_room;
    case 2:
        return Decoded::aborted;
    default:
        if (failure_.empty()) {
            failure_ = "llama_decode returned " + std::to_string(result);
        }
        return Decoded::failed;
    }
}

// Prompts may have a number of threads of their own; what the governor took away is taken from both.
int32_t Loop::threads_for(const std::vector<Planned> & planned) const {
    const ContextParams & params = context_.params();
    const bool prompts =
        std::any_of(planned.begin(), planned.end(), [](const Planned & item) { return !item.sequence->generating(); });
    const int32_t n_threads = governor_.threads();
    if (!prompts) {
        return n_threads;
    }
    return n_threads == params.n_threads ? params.n_threads_batch : std::min(n_threads, params.n_threads_batch);
}

// The cache found no place although the count says there is: sliding-window layers have fewer cells, and
// their free ones depend on positions. Nothing has changed; give it less to place and try again.
void Loop::after_no_room(const std::vector<Planned> & planned) {
    if (slots_.evict_one()) {
        metrics_.evictions++;
    } else if (row_limit_ > options_.n_parallel && batch_.n_tokens > 1) {
        row_limit_ = std::max<uint32_t>(options_.n_parallel, static_cast<uint32_t>(batch_.n_tokens) / 2);
    } else if (running_.size() > 1) {
        preempt_youngest();
    } else {
        Sequence & sequence = planned.empty() ? *running_.front() : *planned.front().sequence;
        finish(sequence, Finish::error,
               std::make_shared<Error>(ErrorCode::capacity,
                                       "the cache has no room for the next token after " +
                                           std::to_string(sequence.n_committed) + " tokens",
                                       ErrorNumbers{ { "n_tokens", static_cast<double>(sequence.n_committed) } }));
    }
}

void Loop::undo(const std::vector<Planned> & planned) {
    for (const auto & item : planned) {
        item.sequence->n_committed = slots_.undo(item.sequence->slot, item.sequence->n_committed);
    }
}

void Loop::isolate(const std::vector<Planned> & planned) {
    const std::string reason = std::exchange(failure_, {});
    if (planned.size() == 1) {
        finish(*planned.front().sequence, Finish::error, std::make_shared<Error>(ErrorCode::decode, reason));
        return;
    }
    for (const auto & item : planned) {
        item.sequence->alone = true;
    }
}

void Loop::commit(const std::vector<Planned> & planned) {
    const auto began = Clock::now();
    row_limit_ = options_.max_rows;
    std::vector<float> row_copy;
    for (const auto & item : planned) {
        Sequence & sequence = *item.sequence;
        const bool prompt = !sequence.generating();
        slots_.committed(sequence.slot, item.n_rows);
        sequence.n_committed += item.n_rows;
        sequence.alone = false;
        if (prompt) {
            metrics_.prompt_tokens += item.n_rows;
        }
        if (item.output_row < 0) {
            continue;
        }
        float * logits = llama_get_logits_ith(context_.handle(), item.output_row);
        if (logits == nullptr) {
            finish(sequence, Finish::error,
                   std::make_shared<Error>(ErrorCode::decode, "llama.cpp returned no logits for a sampled row"));
            continue;
        }
        std::vector<SequencePtr> siblings = std::exchange(sequence.siblings, {});
        if (!siblings.empty()) {
            row_copy.assign(logits, logits + context_.model()->n_vocab());
        }
        sample(sequence, logits);
        start_siblings(sequence, std::move(siblings), row_copy);
    }
    for (auto & sibling : started_) {
        const auto [slot, n_committed] = std::make_pair(sibling->slot, sibling->n_committed);
        start(std::move(sibling), slot, n_committed);
    }
    started_.clear();
    metrics_.sample_us += microseconds_since(began);
}

// The prompt of `leader` was just evaluated: the other choices share its memory and its logits. Those
// that find no slot wait, and find the prompt in the prefix cache later.
void Loop::start_siblings(const Sequence & leader, std::vector<SequencePtr> siblings,
                          const std::vector<float> & logits) {
    std::vector<SequencePtr> postponed;
    std::vector<float> row;
    for (auto & sibling : siblings) {
        const bool place = running_.size() + started_.size() < options_.n_parallel;
        const int32_t slot = place ? slots_.fork(leader.slot) : -1;
        if (slot < 0) {
            postponed.push_back(std::move(sibling));
            continue;
        }
        sibling->slot = slot;
        sibling->n_committed = leader.n_prompt;
        sibling->n_cached = leader.n_prompt;
        sibling->started = leader.started;
        row = logits;
        sample(*sibling, row.data());
        started_.push_back(std::move(sibling));
    }
    waiting_.insert(waiting_.begin(), std::make_move_iterator(postponed.begin()),
                    std::make_move_iterator(postponed.end()));
}

void Loop::sample(Sequence & sequence, float * logits) {
    const GenerationRequest & spec = sequence.request->spec;
    try {
        if (!sequence.sampler) {
            SamplingParams params = spec.sampling;
            if (params.seed != LLAMA_DEFAULT_SEED) {
                params.seed += static_cast<uint32_t>(sequence.choice);
            }
            sequence.sampler = std::make_unique<Sampler>(context_.model(), params, spec.grammar, context_.n_ctx_seq());
            sequence.sampler->accept_prompt(spec.prompt);
        }
        if (spec.logits_processor) {
            spec.logits_processor(sequence.tokens, logits, context_.model()->n_vocab());
        }
        const SampledToken picked = sequence.sampler->sample(logits, spec.logprobs);
        if (!options_.no_perf) {
            sequence.last_token = Clock::now();
            if (!sequence.first_token) {
                sequence.first_token = sequence.last_token;
            }
        }
        if (context_.model()->is_eog(picked.token)) {
            finish(sequence, Finish::stop);
            return;
        }
        sequence.sampler->accept(picked.token);
        sequence.tokens.push_back(picked.token);
        metrics_.generated_tokens++;

        const bool show_special =
            spec.echo_special || std::find(spec.preserved_tokens.begin(), spec.preserved_tokens.end(), picked.token) !=
                                     spec.preserved_tokens.end();
        Chunk chunk;
        chunk.choice = sequence.choice;
        chunk.text = sequence.text.push(context_.model()->token_to_piece(picked.token, show_special));
        chunk.tokens = { picked.token };
        if (spec.logprobs >= 0) {
            chunk.logprobs = { picked };
        }
        if (sequence.text.stopped()) {
            finish(sequence, Finish::stop, nullptr, std::move(chunk));
        } else if (sequence.n_remaining(context_.n_ctx_seq()) == 0) {
            finish(sequence, Finish::length, nullptr, std::move(chunk));
        } else {
            send(sequence, std::move(chunk));
        }
    } catch (const Error & error) {
        finish(sequence, Finish::error, std::make_shared<Error>(error));
    } catch (const std::exception & exception) {
        finish(sequence, Finish::error, std::make_shared<Error>(ErrorCode::engine, exception.what()));
    }
}

// Sends the last chunk of a choice, and of siblings that wait for it. The sequence leaves with reap().
void Loop::finish(Sequence & sequence, Finish reason, std::shared_ptr<Error> error, Chunk last) {
    if (sequence.ended) {
        return;
    }
    sequence.ended = true;
    sequence.failed = reason == Finish::error;
    last.choice = sequence.choice;
    last.text += sequence.text.finish();
    if (sequence.text.stopped() && reason == Finish::length) {
        reason = Finish::stop;  // the text that was held back held a whole stop string
    }
    last.finish = reason;
    last.stop_text = sequence.text.stop_text();
    last.error = error;
    last.timings = sequence.timings();
    switch (reason) {
    case Finish::stop:
        metrics_.finished_stop++;
        break;
    case Finish::length:
        metrics_.finished_length++;
        break;
    case Finish::cancelled:
        metrics_.finished_cancelled++;
        break;
    case Finish::deadline:
        metrics_.finished_deadline++;
        break;
    case Finish::error:
        metrics_.finished_error++;
        break;
    }
    send(sequence, std::move(last));
    for (const auto & sibling : sequence.siblings) {
        finish(*sibling, reason, error);
    }
    sequence.siblings.clear();
}

// Removes the sequences that ended and gives their slots back.
void Loop::reap() {
    for (const auto & sequence : running_) {
        if (sequence->ended) {
            // Memory that produced an error is not offered to others.
            const bool keep = sequence->request->spec.cache_prompt && !sequence->failed;
            slots_.release(sequence->slot, sequence->tokens, sequence->n_committed, keep);
        }
    }
    const auto ended = [](const SequencePtr & sequence) { return sequence->ended; };
    running_.erase(std::remove_if(running_.begin(), running_.end(), ended), running_.end());
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), ended), waiting_.end());
}

void Loop::send(const Sequence & sequence, Chunk chunk) {
    outbox_.emplace_back(sequence.request->handle, std::move(chunk));
}

// Ends the step for others to see: gauges first, then the chunks.
void Loop::publish() {
    metrics_.running = static_cast<uint32_t>(running_.size());
    metrics_.waiting = static_cast<uint32_t>(waiting_.size());
    metrics_.cached_sequences = static_cast<uint32_t>(slots_.n_cached());
    metrics_.cells_used = slots_.used_cells();
    metrics_.threads = static_cast<uint32_t>(governor_.threads());
    metrics_.thread_changes = governor_.changes();
    for (auto & [handle, chunk] : outbox_) {
        handle->push(std::move(chunk));
    }
    outbox_.clear();
}

}  // namespace llamaint
