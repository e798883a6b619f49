#include "tools/cli/replay.h"

#include <algorithm>
#include <utility>

#include "tools/cli/trace_run.h"

namespace weir::cli {
namespace {

// Events between two calls of on_progress.
constexpr uint64_t kProgressStep = 1 << 14;

}  // namespace

Event OrderWatch::Next(Row* row) {
  const Event event = inner_->Next(row);
  if (++events_ % kProgressStep == 0 && on_progress_) {
    on_progress_(inner_->progress());
  }
  if (event != Event::kRow) return event;
  if (!greatest_.has_value() || row->time_us > *greatest_) {
    greatest_ = row->time_us;
  } else if (row->time_us < *greatest_) {
    ++counts_->out_of_order;
    counts_->latest_us =
        std::max(counts_->latest_us, *greatest_ - row->time_us);
  }
  return event;
}

absl::Status Replay::Run() {
  std::optional<DecisionFormat> format;
  if (parts_.decisions != nullptr) {
    format.emplace(parts_.limits->rules, parts_.source->files());
  }
  TraceRunParts run;
  run.source = parts_.source;
  run.subjects = {{parts_.limiter, parts_.limits, parts_.limits_name}};
  run.counts = parts_.report->mutable_input();
  run.strict = parts_.strict;
  run.on_malformed = parts_.on_malformed;
  run.on_progress = parts_.on_progress;
  run.on_row = [&](const Row& row, absl::Span<const Answer> answers) {
    const Answer& answer = answers[0];
    parts_.report->Add(row, answer.keys, answer.decision);
    if (parts_.decisions == nullptr) return absl::OkStatus();
    format->Append(row, answer.keys, answer.decision,
                   parts_.decisions->buffer());
    return parts_.decisions->Flush(OutputFile::kFlushBytes);
  };
  return TraceRun(std::move(run)).Run();
}

}  // namespace weir::cli
