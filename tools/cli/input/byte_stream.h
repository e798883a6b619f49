// The bytes of one input: a file, a pipe or standard input, unpacked if it is
// gzip.
//
// Gzip is known by its first two bytes. Several members in a row read as one
// text, as `cat a.gz b.gz` makes them; zero bytes after the last are padding.
// A member that is cut short is DataLoss, after all that could be unpacked.
#ifndef WEIR_TOOLS_CLI_INPUT_BYTE_STREAM_H_
#define WEIR_TOOLS_CLI_INPUT_BYTE_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weir::cli {

class ByteStream {
 public:
  // Opens `path`. Messages name it.
  static absl::StatusOr<std::unique_ptr<ByteStream>> Open(
      const std::string& path);

  // Reads a descriptor that stays the caller's.
  static std::unique_ptr<ByteStream> FromFd(int fd, const std::string& name);

  virtual ~ByteStream() = default;

  // Up to `size` (> 0) bytes, as many as are there; 0 at the end. Waits if
  // nothing is there yet.
  virtual absl::StatusOr<size_t> Read(char* out, size_t size) = 0;

  // Bytes taken from the descriptor so far.
  virtual int64_t raw_bytes() const = 0;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_BYTE_STREAM_H_
