#include "tools/cli/replay.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "tools/cli/printable.h"

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

Replay::Replay(ReplayParts parts) : parts_(std::move(parts)) {
  const std::vector<KeyTemplate>& keys = parts_.limits->keys;
  for (size_t i = 0; i < keys.size(); ++i) {
    size_t n = 0;
    while (n < first_rule_.size() && keys[first_rule_[n]] != keys[i]) ++n;
    if (n == first_rule_.size()) first_rule_.push_back(i);
    key_of_rule_.push_back(n);
  }
  buffers_.resize(first_rule_.size());
  different_.resize(first_rule_.size());
  keys_.resize(keys.size());
  bound_.resize(parts_.source->files().size());
  if (parts_.decisions != nullptr) {
    format_.emplace(parts_.limits->rules, parts_.source->files());
  }
}

absl::Status Replay::Run() {
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
        parts_.report->mutable_input()->lines = parts_.source->progress().lines;
        return absl::OkStatus();
      case Event::kError:
        return parts_.source->status();
    }
    if (!status.ok()) return status;
  }
}

absl::Status Replay::Bind(int file) {
  const auto index = static_cast<size_t>(file);
  const Columns& columns = parts_.source->columns(file);
  const std::string name = Printable(parts_.source->files()[index], 200);
  Bound bound;
  for (const size_t rule : first_rule_) {
    absl::StatusOr<BoundTemplate> key =
        BoundTemplate::Bind(parts_.limits->keys[rule], columns);
    if (!key.ok()) {
      return InvalidArgument(parts_.limits_name, ": rules[", rule,
                             "].key: ", name, " has ", key.status().message());
    }
    bound.keys.push_back(*std::move(key));
  }
  if (parts_.limits->tag.has_value()) {
    absl::StatusOr<BoundTemplate> tag =
        BoundTemplate::Bind(*parts_.limits->tag, columns);
    if (!tag.ok()) {
      return InvalidArgument(parts_.limits_name, ": tag: ", name, " has ",
                             tag.status().message());
    }
    bound.tag = *std::move(tag);
  }
  bound_[index] = std::move(bound);
  return absl::OkStatus();
}

absl::Status Replay::Decide(const Row& row) {
  const Bound& bound = *bound_[static_cast<size_t>(row.file)];
  for (size_t i = 0; i < different_.size(); ++i) {
    different_[i] = bound.keys[i].Render(row.fields, &buffers_[i]);
    if (different_[i].size() <= kMaxKeyBytes) continue;
    return Bad(row.file, row.line,
               absl::StrCat("the key of rule \"",
                            parts_.limits->rules[first_rule_[i]].name,
                            "\" has ", different_[i].size(),
                            " bytes; allowed: at most ", kMaxKeyBytes));
  }
  for (size_t i = 0; i < keys_.size(); ++i) {
    keys_[i] = different_[key_of_rule_[i]];
  }
  Call call;
  call.keys = keys_;
  if (different_.size() == 1) call.keys = different_;
  call.costs = absl::MakeConstSpan(&row.cost, 1);
  call.now = TimeFromMicros(row.time_us);
  if (bound.tag.has_value()) {
    call.tag = bound.tag->Render(row.fields, &tag_buffer_);
  }
  const absl::StatusOr<Decision> decision = parts_.limiter->Run(row.op, call);
  if (absl::IsInvalidArgument(decision.status())) {
    const absl::string_view message = decision.status().message();
    return Bad(row.file, row.line, {message.data(), message.size()});
  }
  if (!decision.ok()) return decision.status();
  parts_.report->Add(row, keys_, *decision);
  if (parts_.decisions == nullptr) return absl::OkStatus();
  format_->Append(row, keys_, *decision, parts_.decisions->buffer());
  return parts_.decisions->Flush(OutputFile::kFlushBytes);
}

absl::Status Replay::Bad(int file, uint64_t line, std::string_view reason) {
  ++parts_.report->mutable_input()->malformed;
  if (parts_.on_malformed) {
    parts_.on_malformed(parts_.source->files()[static_cast<size_t>(file)], line,
                        reason);
  }
  if (!parts_.strict) return absl::OkStatus();
  return absl::FailedPreconditionError("a malformed line");
}

}  // namespace weir::cli
