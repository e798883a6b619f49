#include "tools/cli/trace_run.h"

#include <utility>

#include "core/text.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

// Events between two calls of on_progress.
constexpr uint64_t kProgressStep = 1 << 14;

// FailedPrecondition is said of malformed lines alone.
absl::Status StoreFailed(const absl::Status& status) {
  return absl::IsFailedPrecondition(status)
             ? absl::UnknownError(status.message())
             : status;
}

}  // namespace

std::string MalformedText(std::string_view file, uint64_t line,
                          std::string_view reason) {
  return absl::StrCat(Printable(file, 200), ":", line, ": ",
                      Printable(reason, 300));
}

TraceRun::TraceRun(TraceRunParts parts) : parts_(std::move(parts)) {
  for (const Subject& subject : parts_.subjects) {
    keys_.emplace_back(*subject.limits, subject.name,
                       parts_.source->files().size(), subject.or_client);
  }
  answers_.resize(parts_.subjects.size());
}

absl::Status TraceRun::Run() {
  Row row;
  for (uint64_t n = 1;; ++n) {
    if (n % kProgressStep == 0 && parts_.on_progress) {
      parts_.on_progress(parts_.source->progress());
    }
    absl::Status status;
    switch (parts_.source->Next(&row)) {
      case Event::kFile:
        status = Bind(row.file);
        break;
      case Event::kRow:
        status = Decide(row);
        break;
      case Event::kMalformed: {
        const Malformed& bad = parts_.source->malformed();
        status = Bad(bad.file, bad.line, bad.reason);
        break;
      }
      case Event::kEnd:
        parts_.counts->lines = parts_.source->progress().lines;
        return absl::OkStatus();
      case Event::kError:
        return parts_.source->status();
    }
    if (!status.ok()) return status;
  }
}

absl::Status TraceRun::Bind(int file) {
  const std::string& name = parts_.source->files()[static_cast<size_t>(file)];
  for (RuleKeys& keys : keys_) {
    absl::Status status = keys.Bind(file, name, parts_.source->columns(file));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status TraceRun::Decide(const Row& row) {
  // All keys first: a row that one subject cannot decide is decided by none.
  for (RuleKeys& keys : keys_) {
    const std::string wrong = keys.Render(row);
    if (!wrong.empty()) return Bad(row.file, row.line, wrong);
  }
  for (size_t i = 0; i < keys_.size(); ++i) {
    absl::StatusOr<Decision> decision =
        parts_.subjects[i].limiter->Run(row.op, keys_[i].MakeCall(row));
    if (absl::IsInvalidArgument(decision.status())) {
      const absl::string_view message = decision.status().message();
      return Bad(row.file, row.line, {message.data(), message.size()});
    }
    if (!decision.ok()) return StoreFailed(decision.status());
    answers_[i].keys = keys_[i].keys();
    answers_[i].decision = *std::move(decision);
  }
  return parts_.on_row(row, answers_);
}

absl::Status TraceRun::Bad(int file, uint64_t line, std::string_view reason) {
  ++parts_.counts->malformed;
  const std::string& name = parts_.source->files()[static_cast<size_t>(file)];
  if (parts_.strict) {
    return absl::FailedPreconditionError(MalformedText(name, line, reason));
  }
  if (parts_.on_malformed) parts_.on_malformed(name, line, reason);
  return absl::OkStatus();
}

}  // namespace weir::cli
