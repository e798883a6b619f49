// A call as its script wants it, and its reply as the limiter wants it.
// lua/README.md tells the form.
#ifndef WEIR_BACKENDS_REDIS_STEP_CODEC_H_
#define WEIR_BACKENDS_REDIS_STEP_CODEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/redis/call.h"
#include "backends/redis/redis_rule.h"
#include "weir/store.h"

namespace weir::redis {

// Owns what its ScriptCall points to.
class EncodedCall {
 public:
  // `steps` is not empty.
  EncodedCall(Op op, std::optional<Time> now, absl::Span<const Step> steps);
  // Of a step that differs in its key alone from the one of `like`, whose args
  // it has: `like` outlives it.
  EncodedCall(const EncodedCall& like, const Step& step);
  EncodedCall(const EncodedCall&) = delete;
  EncodedCall& operator=(const EncodedCall&) = delete;

  ScriptCall call() const;

 private:
  const EncodedCall* const args_of_ = this;
  const Script* script_ = nullptr;
  bool charging_ = false;
  size_t reply_bytes_;
  absl::InlinedVector<std::string, 4> keys_;
  absl::InlinedVector<std::string, 4> blobs_;
  std::string kinds_;
  absl::InlinedVector<std::string_view, 4> key_views_;
  absl::InlinedVector<std::string_view, 9> args_;
};

// Whether two calls of one op and time differ in their key alone, and have one.
bool DifferInKeyAlone(absl::Span<const Step> a, absl::Span<const Step> b);

// Fills one outcome for each step. Unavailable: the reply has another form.
absl::Status Decode(const Reply& reply, Op op, absl::Span<const Step> steps,
                    Outcome* outcomes);

// Decides by itself a call whose every rule has a limit of 0, if it can: such a
// rule denies whatever is stored. False: the server has to be asked.
bool DecideAlone(Op op, absl::Span<const Step> steps, Outcome* outcomes);

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_STEP_CODEC_H_
