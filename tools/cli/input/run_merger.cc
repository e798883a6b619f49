#include "tools/cli/input/run_merger.h"

#include <algorithm>
#include <cstring>

#include "tools/cli/input/row_codec.h"

namespace weir::cli {
namespace {

absl::Status Damaged() {
  return absl::DataLossError("the temporary file for sorting is damaged");
}

}  // namespace

RunMerger::RunMerger(const TempFile* file, const std::vector<Run>& runs,
                     size_t buffer_size)
    : file_(file),
      buffer_size_(std::max(buffer_size, kMaxVarint)),
      readers_(runs.size()) {
  for (size_t i = 0; i < runs.size(); ++i) readers_[i].left = runs[i];
}

bool RunMerger::After(size_t a, size_t b) const {
  const int64_t ta = readers_[a].row.time_us;
  const int64_t tb = readers_[b].row.time_us;
  return ta != tb ? ta > tb : a > b;
}

absl::Status RunMerger::Fill(Reader* reader, size_t needed) {
  const size_t have = reader->end - reader->begin;
  if (have >= needed) return absl::OkStatus();
  std::vector<char>& buffer = reader->buffer;
  if (have > 0) {
    std::memmove(buffer.data(), buffer.data() + reader->begin, have);
  }
  buffer.resize(std::max({buffer.size(), buffer_size_, needed}));
  const size_t more = static_cast<size_t>(std::min<uint64_t>(
      buffer.size() - have, reader->left.end - reader->left.begin));
  absl::Status s =
      file_->ReadAt(reader->left.begin, buffer.data() + have, more);
  if (!s.ok()) return s;
  reader->left.begin += more;
  reader->begin = 0;
  reader->end = have + more;
  return absl::OkStatus();
}

absl::Status RunMerger::Advance(Reader* reader, bool* found) {
  // Fewer bytes than asked for may be left; that is not wrong yet.
  if (absl::Status s = Fill(reader, kMaxVarint); !s.ok()) return s;
  *found = reader->begin != reader->end;
  if (!*found) return absl::OkStatus();
  uint64_t body = 0;
  const size_t prefix = DecodeSize(
      {reader->buffer.data() + reader->begin, reader->end - reader->begin},
      &body);
  const uint64_t there =
      reader->end - reader->begin + (reader->left.end - reader->left.begin);
  if (prefix == 0 || body > there - prefix) return Damaged();
  const size_t whole = prefix + static_cast<size_t>(body);
  if (absl::Status s = Fill(reader, whole); !s.ok()) return s;
  reader->encoded = {reader->buffer.data() + reader->begin, whole};
  reader->begin += whole;
  return DecodeRow(reader->encoded.substr(prefix), &reader->row,
                   &reader->fields)
             ? absl::OkStatus()
             : Damaged();
}

absl::Status RunMerger::Push(size_t run) {
  bool found = false;
  if (absl::Status s = Advance(&readers_[run], &found); !s.ok()) return s;
  if (!found) {
    // Its memory is given back at once.
    readers_[run].buffer = std::vector<char>();
    return absl::OkStatus();
  }
  heap_.push_back(run);
  std::push_heap(heap_.begin(), heap_.end(),
                 [this](size_t a, size_t b) { return After(a, b); });
  return absl::OkStatus();
}

absl::Status RunMerger::Next(const Row** row) {
  *row = nullptr;
  if (!started_) {
    started_ = true;
    for (size_t i = 0; i < readers_.size(); ++i) {
      if (absl::Status s = Push(i); !s.ok()) return s;
    }
  } else if (!heap_.empty()) {
    // Only now: the row given last was a view of its run's buffer.
    std::pop_heap(heap_.begin(), heap_.end(),
                  [this](size_t a, size_t b) { return After(a, b); });
    heap_.pop_back();
    if (absl::Status s = Push(top_); !s.ok()) return s;
  }
  if (heap_.empty()) return absl::OkStatus();
  top_ = heap_.front();
  *row = &readers_[top_].row;
  return absl::OkStatus();
}

}  // namespace weir::cli
