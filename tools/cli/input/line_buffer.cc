#include "tools/cli/input/line_buffer.h"

#include <algorithm>

#include "absl/status/statusor.h"

namespace weir::cli {
namespace {

// Small enough to stay in a core's own cache while its lines are parsed.
constexpr size_t kChunk = size_t{256} << 10;

constexpr size_t kCheapMove = size_t{4} << 10;

// A line of kMaxLine bytes with its end, and room to read more.
constexpr size_t kCapacity = LineBuffer::kMaxLine + 2 + kChunk;

}  // namespace

LineBuffer::LineBuffer(ByteStream* stream)
    : stream_(stream), buffer_(new char[kCapacity]) {}

bool LineBuffer::Fill() {
  if (at_end_ || !status_.ok()) return false;
  // What is left is moved to the front if it is short, so that the memory that
  // is read into is still in the cache, or if there is no room behind it.
  const size_t left = end_ - begin_;
  if (begin_ > 0 && (left <= kCheapMove || kCapacity - end_ < kChunk)) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, left);
    begin_ = 0;
    end_ = left;
  }
  const size_t room = std::min(kChunk, kCapacity - end_);
  absl::StatusOr<size_t> got = stream_->Read(buffer_.get() + end_, room);
  if (!got.ok()) {
    status_ = got.status();
    return false;
  }
  at_end_ = *got == 0;
  end_ += *got;
  return !at_end_;
}

LineBuffer::Found LineBuffer::FindSlow(size_t offset, size_t* size,
                                       size_t* next) {
  size_t searched = end_ - begin_ - offset;
  for (;;) {
    // Two bytes more than the limit: a CR LF may follow.
    if (offset + searched > kMaxLine + 1) return Found::kTooLong;
    if (!Fill()) break;
    const char* from = data() + offset;
    const size_t there = end_ - begin_ - offset;
    if (std::memchr(from + searched, '\n', there - searched) != nullptr) {
      return Find(offset, size, next);
    }
    searched = there;
  }
  if (!status_.ok()) return Found::kError;
  if (searched == 0) return Found::kEnd;
  const char* from = data() + offset;
  *next = offset + searched;
  *size = searched - (from[searched - 1] == '\r' ? 1 : 0);
  return offset + *size > kMaxLine ? Found::kTooLong : Found::kLine;
}

absl::Status LineBuffer::SkipLine() {
  for (;;) {
    const size_t there = end_ - begin_;
    const void* lf = there == 0 ? nullptr : std::memchr(data(), '\n', there);
    if (lf != nullptr) {
      Consume(static_cast<size_t>(static_cast<const char*>(lf) - data()) + 1);
      return absl::OkStatus();
    }
    Consume(there);
    if (!Fill()) return status_;
  }
}

absl::Status LineBuffer::SkipByteOrderMark() {
  constexpr char kMark[] = "\xef\xbb\xbf";
  while (end_ - begin_ < 3) {
    if (std::memcmp(data(), kMark, end_ - begin_) != 0) return status_;
    if (!Fill()) return status_;
  }
  if (std::memcmp(data(), kMark, 3) == 0) Consume(3);
  return absl::OkStatus();
}

}  // namespace weir::cli
