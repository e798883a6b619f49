#include "backends/redis/step_codec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/redis/errors.h"
#include "backends/redis/key_name.h"

namespace weir::redis {
namespace {

// As in lua/head.lua.
enum StepFlag : unsigned char {
  kTimeGiven = 1,
  kObserve = 2,
  kCountDenied = 4,
  kDenyAll = 8,
};

constexpr size_t kTimeBytes = 8;

const RedisRule& RuleOf(const Step& step) {
  return *static_cast<const RedisRule*>(step.rule);
}

// A reservation is a check that may lie some time ahead.
char CodeOf(Op op) {
  switch (op) {
    case Op::kCheck:
    case Op::kReserve:
      return 0;
    case Op::kPeek:
      return 1;
    case Op::kRefund:
      return 2;
    case Op::kReset:
      break;
  }
  return 3;
}

std::string Blob(Op op, std::optional<Time> now, const Step& step) {
  const RedisRule& rule = RuleOf(step);
  unsigned char flags = now.has_value() ? kTimeGiven : 0;
  if (step.observe) flags |= kObserve;
  if (rule.limit.traits.count_denied && op == Op::kCheck) flags |= kCountDenied;
  if (rule.limit.denies_all) flags |= kDenyAll;
  std::string bytes;
  bytes.reserve(96);
  bytes.push_back(CodeOf(op));
  bytes.push_back(static_cast<char>(flags));
  StepWriter writer(&bytes);
  writer.Count(now.has_value() ? ToMicros(*now) : 0);
  if (rule.limit.denies_all) {
    writer.Count(step.cost);
  } else {
    rule.script->write_step(rule.limit.params.get(), step.cost,
                            op == Op::kReserve ? step.max_wait : 0, &bytes);
  }
  return bytes;
}

// The least that a script answers.
size_t ReplyBytes(absl::Span<const Step> steps) {
  size_t bytes = kTimeBytes;
  for (const Step& step : steps) bytes += RuleOf(step).reply_bytes();
  return bytes;
}

// What a limit of 0 answers, whatever is stored.
constexpr Numbers kDenied = {0, kNever, 0};

}  // namespace

EncodedCall::EncodedCall(Op op, std::optional<Time> now,
                         absl::Span<const Step> steps)
    : reply_bytes_(ReplyBytes(steps)) {
  unsigned char latest = 0;
  for (const Step& step : steps) {
    const RedisRule& rule = RuleOf(step);
    const auto kind = static_cast<unsigned char>(rule.half.kind);
    if (kind >= latest) {
      latest = kind;
      script_ = steps.size() == 1 ? rule.half.alone : rule.half.together;
    }
    keys_.push_back(KeyName(rule.prefix, step.tag, step.key));
    blobs_.push_back(Blob(op, now, step));
    kinds_.push_back(rule.half.kind);
    if (op != Op::kPeek && (op == Op::kReset || step.cost > 0)) {
      charging_ = true;
    }
  }
  // The strings stay where they are from here on.
  for (size_t i = 0; i < steps.size(); ++i) {
    key_views_.push_back(keys_[i]);
    args_.push_back(RuleOf(steps[i]).record);
    args_.push_back(blobs_[i]);
  }
  if (steps.size() > 1) args_.push_back(kinds_);
}

EncodedCall::EncodedCall(const EncodedCall& like, const Step& step)
    : args_of_(&like),
      script_(like.script_),
      charging_(like.charging_),
      reply_bytes_(like.reply_bytes_) {
  keys_.push_back(KeyName(RuleOf(step).prefix, step.tag, step.key));
  key_views_.push_back(keys_[0]);
}

ScriptCall EncodedCall::call() const {
  return {script_,   key_views_,   args_of_->args_,
          charging_, reply_bytes_, /*each_key=*/key_views_.size() == 1};
}

bool DifferInKeyAlone(absl::Span<const Step> a, absl::Span<const Step> b) {
  return a.size() == 1 && b.size() == 1 && a[0].rule == b[0].rule &&
         a[0].cost == b[0].cost && a[0].observe == b[0].observe &&
         a[0].max_wait == b[0].max_wait;
}

absl::Status Decode(const Reply& reply, Op op, absl::Span<const Step> steps,
                    Outcome* outcomes) {
  const size_t wanted = ReplyBytes(steps);
  const std::string_view bytes = reply.text;
  if (reply.type != Reply::Type::kString || bytes.size() < wanted) {
    return MakeError(Reason::kProtocol, "",
                     absl::StrCat("a script's reply of ", bytes.size(),
                                  " bytes; wanted: ", wanted),
                     true);
  }
  bool all = true;
  size_t at = kTimeBytes;
  for (size_t i = 0; i < steps.size(); ++i) {
    outcomes[i].allowed = bytes[at] != 0;
    if (!steps[i].observe) all = all && outcomes[i].allowed;
    at += RuleOf(steps[i]).reply_bytes();
  }
  StepArgs args;
  args.t = ReadCount(bytes, 0);
  at = kTimeBytes;
  for (size_t i = 0; i < steps.size(); ++i) {
    const RedisRule& rule = RuleOf(steps[i]);
    const bool allowed = outcomes[i].allowed;
    if (rule.limit.denies_all) {
      outcomes[i].numbers = kDenied;
    } else {
      // What was reserved is in the state; waiting for nothing more is waiting
      // for it.
      args.cost = op == Op::kReserve && allowed ? 0 : steps[i].cost;
      args.wants_wait = op != Op::kCheck || !all || !allowed;
      outcomes[i].numbers = rule.script->read(
          rule.limit.params.get(),
          bytes.substr(at + 1, rule.script->state_bytes), args);
    }
    at += rule.reply_bytes();
  }
  return absl::OkStatus();
}

bool DecideAlone(Op op, absl::Span<const Step> steps, Outcome* outcomes) {
  if (op == Op::kRefund || op == Op::kReset) return false;
  for (const Step& step : steps) {
    if (!RuleOf(step).limit.denies_all) return false;
  }
  std::fill_n(outcomes, steps.size(), Outcome{false, kDenied});
  return true;
}

}  // namespace weir::redis
