// A temporary file without a name: it is gone when it is closed, however that
// comes about.
#ifndef WEIR_TOOLS_CLI_INPUT_TEMP_FILE_H_
#define WEIR_TOOLS_CLI_INPUT_TEMP_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weir::cli {

class TempFile {
 public:
  // In `folder`; empty: that of the environment variable TMPDIR, else /tmp.
  static absl::StatusOr<std::unique_ptr<TempFile>> Create(std::string folder);

  ~TempFile();
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  // Appends. Buffered: a failure may come out only with a later call.
  absl::Status Append(std::string_view bytes);
  absl::Status Flush();

  // Bytes appended so far.
  uint64_t size() const { return size_; }

  // Exactly `size` bytes from `offset`, which must have been flushed.
  absl::Status ReadAt(uint64_t offset, char* out, size_t size) const;

 private:
  TempFile(int fd, std::string folder);
  absl::Status Write(const char* from, size_t left);

  static constexpr size_t kBufferSize = size_t{256} << 10;

  const int fd_;
  const std::string folder_;
  std::unique_ptr<char[]> buffer_;
  size_t used_ = 0;
  uint64_t size_ = 0;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_TEMP_FILE_H_
