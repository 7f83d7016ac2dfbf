#pragma once

#include "cancel_flag.h"
#include "core/error.h"
#include "core/model.h"
#include "handle.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace llamaint {

// The vectors of one job. Only one of the two is filled.
struct EmbedOutput {
    std::vector<float> pooled;             // [n_texts, width]
    std::vector<std::vector<float>> rows;  // pooling none: [n_tokens, width] per text
};

// One job of many texts and the meeting point of its caller and the engine's threads. It ends once: with
// all its vectors, or with one error.
class EmbedHandle : public CancelFlag {
  public:
    EmbedHandle(uint64_t id, std::vector<Tokens> texts, uint32_t width, bool keep_rows,
                std::shared_ptr<Notifier> notifier);

    uint64_t id() const { return id_; }
    uint32_t width() const { return width_; }
    bool keeps_rows() const { return keep_rows_; }

    // Consumer side, thread-safe.
    bool wait(double timeout_s);            // true: ended, result() will not block
    std::shared_ptr<EmbedOutput> result();  // waits; throws the job's Error
    void watch();                           // from now on the id goes to the notifier when the job ends
    void cancel();                          // ends the job with Error(cancelled) at once

    // Engine side.
    const std::vector<Tokens> & texts() const { return texts_; }
    bool ended() const;
    void fail(const Error & error);  // no effect once the job has ended
    // The place of one text's result. Each text is written by one thread, before its finish_text().
    float * pooled(uint32_t text) { return output_->pooled.data() + static_cast<size_t>(text) * width_; }
    std::vector<float> & rows(uint32_t text) { return output_->rows[text]; }
    void finish_text();
    // Called once by cancel(), on the thread of the caller.
    void on_cancel(std::function<void()> callback);

  private:
    void end(std::shared_ptr<const Error> error);

    const uint64_t id_;
    const std::vector<Tokens> texts_;
    const uint32_t width_;
    const bool keep_rows_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::shared_ptr<EmbedOutput> output_;
    size_t n_open_;  // texts without a result
    bool ended_ = false;
    bool watched_ = false;
    std::shared_ptr<const Error> error_;
    std::function<void()> on_cancel_;
    std::shared_ptr<Notifier> notifier_;
};

// One text of a job.
struct EmbedText {
    std::shared_ptr<EmbedHandle> job;
    uint32_t index = 0;

    const Tokens & tokens() const { return job->texts()[index]; }
};

}  // namespace llamaint
