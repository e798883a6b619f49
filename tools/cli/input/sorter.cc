#include "tools/cli/input/sorter.h"

#include <algorithm>
#include <utility>

#include "tools/cli/input/row_codec.h"
#include "tools/cli/input/run_merger.h"
#include "tools/cli/input/temp_file.h"

namespace weir::cli {
namespace {

// Rows in one block of memory: the encoded rows grow from its front, an index
// entry for each from its back, until the two meet.
class RowBlock {
 public:
  explicit RowBlock(size_t bytes) { Allocate(bytes); }

  bool empty() const { return index_size() == 0; }

  // False: there is no room, and nothing was done. An empty block makes room.
  bool Add(const Row& row) {
    const size_t most = MaxEncodedSize(row) + sizeof(Entry);
    if (most > free_bytes()) {
      if (!empty()) return false;
      Allocate(most);
    }
    const size_t offset = used_;
    used_ += EncodeRow(row, data() + offset);
    *--first_ = Entry{row.time_us, offset};
    if (row.time_us < latest_) in_order_ = false;
    latest_ = row.time_us;
    return true;
  }

  void Sort() {
    // From the back of the block to its front: in that order the entries came.
    // A place in the block is unique and grows with time, so equal times need
    // no stable sort.
    if (in_order_) return;
    std::sort(first_, end_, [](const Entry& a, const Entry& b) {
      return a.time_us != b.time_us ? a.time_us > b.time_us
                                    : a.offset > b.offset;
    });
  }

  size_t index_size() const { return static_cast<size_t>(end_ - first_); }

  // The n-th encoded row, and all that lies behind it.
  std::string_view From(size_t n) const {
    const size_t offset = (end_ - 1 - n)->offset;
    return {data() + offset, used_ - offset};
  }

  void Clear() {
    used_ = 0;
    first_ = end_;
    in_order_ = true;
    latest_ = -kMaxTraceNumber;
  }

  void Free() {
    Clear();
    memory_.reset();
    first_ = end_ = nullptr;
  }

 private:
  struct Entry {
    int64_t time_us;
    size_t offset;
  };

  void Allocate(size_t bytes) {
    // Not make_unique, which would write to all of it: the pages that are never
    // reached are never there.
    const size_t entries = bytes / sizeof(Entry) + 1;
    memory_.reset(new Entry[entries]);  // NOLINT(modernize-make-unique)
    end_ = memory_.get() + entries;
    Clear();
  }

  char* data() const { return reinterpret_cast<char*>(memory_.get()); }
  size_t free_bytes() const {
    return static_cast<size_t>(reinterpret_cast<char*>(first_) - data()) -
           used_;
  }

  std::unique_ptr<Entry[]> memory_;
  size_t used_ = 0;
  Entry* first_ = nullptr;
  Entry* end_ = nullptr;
  bool in_order_ = true;
  int64_t latest_ = -kMaxTraceNumber;
};

// The encoded row at the front of `bytes`, which is known to be whole.
std::string_view FirstRow(std::string_view bytes, std::string_view* body) {
  uint64_t size = 0;
  const size_t prefix = DecodeSize(bytes, &size);
  *body = bytes.substr(prefix, size);
  return bytes.substr(0, prefix + size);
}

}  // namespace

class SortedSource::Impl {
 public:
  Impl(std::unique_ptr<RowSource> inner, SortOptions options)
      : inner_(std::move(inner)),
        options_(std::move(options)),
        block_(options_.memory_bytes) {
    options_.fan_in = std::max(options_.fan_in, 2);
  }

  Event Next(Row* row);
  const RowSource& inner() const { return *inner_; }
  const absl::Status& status() const { return status_; }

 private:
  enum class Phase { kReading, kFromMemory, kMerging, kEnd };

  // Reads the input until an event has to be passed on or it ends.
  Event Read(Row* row);
  absl::Status Spill();
  // After the last row: makes ready for giving rows.
  absl::Status Finish();
  absl::Status MergePass();
  size_t BufferSize() const;

  const std::unique_ptr<RowSource> inner_;
  SortOptions options_;
  Phase phase_ = Phase::kReading;
  absl::Status status_;

  RowBlock block_;
  size_t given_ = 0;  // of the block
  std::vector<std::string_view> fields_;

  std::unique_ptr<TempFile> file_;
  std::vector<Run> runs_;
  std::unique_ptr<RunMerger> merger_;
};

size_t SortedSource::Impl::BufferSize() const {
  // Large enough that a disk's head is not moved all the time.
  const size_t share =
      options_.memory_bytes / (2 * static_cast<size_t>(options_.fan_in));
  return std::clamp(share, size_t{4} << 10, size_t{1} << 20);
}

absl::Status SortedSource::Impl::Spill() {
  if (file_ == nullptr) {
    absl::StatusOr<std::unique_ptr<TempFile>> file =
        TempFile::Create(options_.temp_dir);
    if (!file.ok()) return file.status();
    file_ = *std::move(file);
  }
  block_.Sort();
  Run run;
  run.begin = file_->size();
  for (size_t i = 0; i < block_.index_size(); ++i) {
    std::string_view body;
    absl::Status s = file_->Append(FirstRow(block_.From(i), &body));
    if (!s.ok()) return s;
  }
  run.end = file_->size();
  runs_.push_back(run);
  block_.Clear();
  return absl::OkStatus();
}

absl::Status SortedSource::Impl::MergePass() {
  absl::StatusOr<std::unique_ptr<TempFile>> out =
      TempFile::Create(options_.temp_dir);
  if (!out.ok()) return out.status();
  const size_t fan_in = static_cast<size_t>(options_.fan_in);
  std::vector<Run> merged;
  for (size_t i = 0; i < runs_.size(); i += fan_in) {
    // Neighbours, so that rows of equal time stay in order.
    const size_t end = std::min(i + fan_in, runs_.size());
    const std::vector<Run> group(runs_.begin() + static_cast<ptrdiff_t>(i),
                                 runs_.begin() + static_cast<ptrdiff_t>(end));
    RunMerger merger(file_.get(), group, BufferSize());
    Run run;
    run.begin = (*out)->size();
    for (;;) {
      const Row* row = nullptr;
      if (absl::Status s = merger.Next(&row); !s.ok()) return s;
      if (row == nullptr) break;
      if (absl::Status s = (*out)->Append(merger.encoded()); !s.ok()) return s;
    }
    run.end = (*out)->size();
    merged.push_back(run);
  }
  if (absl::Status s = (*out)->Flush(); !s.ok()) return s;
  file_ = *std::move(out);
  runs_ = std::move(merged);
  return absl::OkStatus();
}

absl::Status SortedSource::Impl::Finish() {
  if (file_ == nullptr) {
    block_.Sort();
    phase_ = Phase::kFromMemory;
    return absl::OkStatus();
  }
  if (!block_.empty()) {
    if (absl::Status s = Spill(); !s.ok()) return s;
  }
  block_.Free();
  if (absl::Status s = file_->Flush(); !s.ok()) return s;
  while (runs_.size() > static_cast<size_t>(options_.fan_in)) {
    if (absl::Status s = MergePass(); !s.ok()) return s;
  }
  merger_ = std::make_unique<RunMerger>(file_.get(), runs_, BufferSize());
  phase_ = Phase::kMerging;
  return absl::OkStatus();
}

Event SortedSource::Impl::Read(Row* row) {
  for (;;) {
    const Event event = inner_->Next(row);
    switch (event) {
      case Event::kRow:
        if (!block_.Add(*row)) {
          status_ = Spill();
          if (!status_.ok()) return Event::kError;
          block_.Add(*row);
        }
        break;
      case Event::kError:
        status_ = inner_->status();
        return event;
      case Event::kFile:
      case Event::kMalformed:
      case Event::kEnd:
        return event;
    }
  }
}

Event SortedSource::Impl::Next(Row* row) {
  if (!status_.ok()) return Event::kError;
  if (phase_ == Phase::kReading) {
    const Event event = Read(row);
    if (event != Event::kEnd) return event;
    status_ = Finish();
    if (!status_.ok()) return Event::kError;
  }
  if (phase_ == Phase::kFromMemory && given_ < block_.index_size()) {
    std::string_view body;
    FirstRow(block_.From(given_++), &body);
    // These bytes never left the process: they are those of a row.
    DecodeRow(body, row, &fields_);
    return Event::kRow;
  }
  if (phase_ == Phase::kMerging) {
    const Row* next = nullptr;
    status_ = merger_->Next(&next);
    if (!status_.ok()) return Event::kError;
    if (next != nullptr) {
      *row = *next;
      return Event::kRow;
    }
  }
  phase_ = Phase::kEnd;
  return Event::kEnd;
}

std::unique_ptr<SortedSource> SortedSource::Create(
    std::unique_ptr<RowSource> inner, SortOptions options) {
  return std::unique_ptr<SortedSource>(new SortedSource(
      std::make_unique<Impl>(std::move(inner), std::move(options))));
}

SortedSource::SortedSource(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
SortedSource::~SortedSource() = default;
Event SortedSource::Next(Row* row) { return impl_->Next(row); }
const Malformed& SortedSource::malformed() const {
  return impl_->inner().malformed();
}
const absl::Status& SortedSource::status() const { return impl_->status(); }
const std::vector<std::string>& SortedSource::files() const {
  return impl_->inner().files();
}
const Columns& SortedSource::columns(int file) const {
  return impl_->inner().columns(file);
}
Progress SortedSource::progress() const { return impl_->inner().progress(); }

}  // namespace weir::cli
