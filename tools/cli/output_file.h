// An output file that is either whole or not there. It is written under
// another name in the same folder, and takes its own name when all is well.
//
//   absl::StatusOr<std::unique_ptr<OutputFile>> file =
//   OutputFile::Create(path);
//   (*file)->buffer()->append("...\n");
//   absl::Status status = (*file)->Flush(OutputFile::kFlushBytes);
//   status = (*file)->Commit();  // without it the destructor removes the file
#ifndef WEIR_TOOLS_CLI_OUTPUT_FILE_H_
#define WEIR_TOOLS_CLI_OUTPUT_FILE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weir::cli {

class OutputFile {
 public:
  static constexpr size_t kFlushBytes = size_t{1} << 18;

  // `path`: "-" is standard output. What is there and is no regular file (a
  // device, a pipe) is written directly; of a symbolic link, the file that it
  // leads to is replaced. At most one OutputFile at a time.
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(
      const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // What is to be written next.
  std::string* buffer() { return &buffer_; }

  // Writes the buffer if it holds at least `least` bytes.
  absl::Status Flush(size_t least) {
    return buffer_.size() < least ? absl::OkStatus() : WriteBuffer();
  }

  // Writes what is left and gives the file its name.
  absl::Status Commit();

 private:
  OutputFile() = default;
  absl::Status WriteBuffer();
  absl::Status OpenTemporary(unsigned mode);
  void Close();

  std::string path_;       // as given, for messages
  std::string target_;     // the final name; empty: written directly
  std::string temporary_;  // empty: none is there
  int fd_ = -1;
  bool owned_ = false;  // fd_ is closed here
  std::string buffer_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_OUTPUT_FILE_H_
