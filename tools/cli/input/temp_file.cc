#include "tools/cli/input/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weir::cli {

absl::StatusOr<std::unique_ptr<TempFile>> TempFile::Create(std::string folder) {
  if (folder.empty()) {
    const char* from_environment = getenv("TMPDIR");
    folder = from_environment != nullptr && *from_environment != '\0'
                 ? from_environment
                 : "/tmp";
  }
  std::string path = absl::StrCat(folder, "/weir-sort-XXXXXX");
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) {
    return absl::ErrnoToStatus(
        errno,
        absl::StrCat(folder, ": cannot make a temporary file for sorting"));
  }
  unlink(path.c_str());
  return std::unique_ptr<TempFile>(new TempFile(fd, std::move(folder)));
}

TempFile::TempFile(int fd, std::string folder)
    : fd_(fd), folder_(std::move(folder)), buffer_(new char[kBufferSize]) {}

TempFile::~TempFile() { close(fd_); }

absl::Status TempFile::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (bytes.size() > kBufferSize - used_) {
    if (absl::Status s = Flush(); !s.ok()) return s;
  }
  if (bytes.size() > kBufferSize) return Write(bytes.data(), bytes.size());
  std::memcpy(buffer_.get() + used_, bytes.data(), bytes.size());
  used_ += bytes.size();
  return absl::OkStatus();
}

absl::Status TempFile::Flush() {
  const size_t used = std::exchange(used_, 0);
  return Write(buffer_.get(), used);
}

absl::Status TempFile::Write(const char* from, size_t left) {
  while (left > 0) {
    const ssize_t put = write(fd_, from, left);
    if (put < 0) {
      if (errno == EINTR) continue;
      return absl::ErrnoToStatus(
          errno, absl::StrCat(folder_,
                              ": cannot write the temporary file for sorting "
                              "(TMPDIR names another folder)"));
    }
    from += put;
    left -= static_cast<size_t>(put);
  }
  return absl::OkStatus();
}

absl::Status TempFile::ReadAt(uint64_t offset, char* out, size_t size) const {
  while (size > 0) {
    const ssize_t got = pread(fd_, out, size, static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      return absl::ErrnoToStatus(
          errno, absl::StrCat(folder_,
                              ": cannot read the temporary file for sorting"));
    }
    if (got == 0) {
      return absl::DataLossError(absl::StrCat(
          folder_, ": the temporary file for sorting is cut short"));
    }
    out += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

}  // namespace weir::cli
