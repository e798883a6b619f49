// Lines out of a stream of bytes, in memory that does not grow with them.
//
// The lines are looked at in place. A line that begins the window is at offset
// 0; Find(next) looks at the one behind it, so that a record can span several.
// What was looked at is taken off by Consume.
#ifndef WEIR_TOOLS_CLI_INPUT_LINE_BUFFER_H_
#define WEIR_TOOLS_CLI_INPUT_LINE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "tools/cli/input/byte_stream.h"

namespace weir::cli {

class LineBuffer {
 public:
  // The longest line, and the longest record of several lines.
  static constexpr size_t kMaxLine = size_t{1} << 20;

  enum class Found {
    kLine,
    kTooLong,  // it ends more than kMaxLine behind the window's beginning
    kEnd,      // no byte there
    kError,    // status() says why
  };

  // `stream` must outlive the buffer.
  explicit LineBuffer(ByteStream* stream);

  // Looks for the line that begins `offset` bytes into the window (an offset
  // that an earlier Find gave as *next, or 0). kLine: *size is its length
  // without its end (LF, CR LF or, at the end of the stream, CR or nothing),
  // *next the offset behind that end. May move data().
  Found Find(size_t offset, size_t* size, size_t* next) {
    // The end of the window is checked first, so that memchr gets bytes that
    // are there.
    const char* from = buffer_.get() + begin_ + offset;
    const size_t there = end_ - begin_ - offset;
    const void* lf = there == 0 ? nullptr : std::memchr(from, '\n', there);
    if (lf == nullptr) return FindSlow(offset, size, next);
    const size_t length =
        static_cast<size_t>(static_cast<const char*>(lf) - from);
    *next = offset + length + 1;
    *size = length - (length > 0 && from[length - 1] == '\r' ? 1 : 0);
    return offset + *size > kMaxLine ? Found::kTooLong : Found::kLine;
  }

  // The window. Writing to it is allowed.
  char* data() { return buffer_.get() + begin_; }

  // Takes `size` bytes off the window's front; views of them hold until the
  // next Find or SkipLine.
  void Consume(size_t size) {
    begin_ += size;
    consumed_ += size;
  }

  // Takes the first line off, however long it is. Not ok: reading failed.
  absl::Status SkipLine();

  // A byte order mark at the window's front is taken off, if it is there.
  absl::Status SkipByteOrderMark();

  // Bytes taken off so far.
  uint64_t consumed() const { return consumed_; }

  const absl::Status& status() const { return status_; }

 private:
  Found FindSlow(size_t offset, size_t* size, size_t* next);
  // Reads more; false at the end of the stream or on an error. There must be
  // room.
  bool Fill();

  ByteStream* const stream_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t consumed_ = 0;
  bool at_end_ = false;
  absl::Status status_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_LINE_BUFFER_H_
