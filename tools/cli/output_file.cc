#include "tools/cli/output_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/text.h"
#include "tools/cli/signals.h"
#include "tools/limits_json/errno_status.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

std::string Shown(const std::string& path) { return Printable(path, 200); }

// The permissions that a new file gets here.
unsigned DefaultMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Create(
    const std::string& path) {
  std::unique_ptr<OutputFile> file(new OutputFile);
  file->path_ = path;
  if (path == "-") {
    file->path_ = "standard output";
    file->fd_ = STDOUT_FILENO;
    return file;
  }
  struct stat info = {};
  const bool exists = stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return absl::UnavailableError(absl::StrCat(Shown(path), ": is a folder"));
  }
  if (exists && !S_ISREG(info.st_mode)) {
    file->fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file->fd_ < 0) {
      return ErrnoStatus(errno, Shown(path) + ": cannot be written");
    }
    file->owned_ = true;
    return file;
  }
  file->target_ = path;
  char resolved[PATH_MAX];
  if (exists && realpath(path.c_str(), resolved) != nullptr) {
    file->target_ = resolved;
  }
  absl::Status status =
      file->OpenTemporary(exists ? info.st_mode & 07777u : DefaultMode());
  if (!status.ok()) return status;
  return file;
}

absl::Status OutputFile::OpenTemporary(unsigned mode) {
  std::string name = target_ + ".tmp-XXXXXX";
  const HoldSignals hold;
  fd_ = mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) {
    return ErrnoStatus(errno, Shown(path_) + ": cannot be written");
  }
  owned_ = true;
  temporary_ = name;
  if (!SetTemporaryFile(temporary_)) {
    return absl::UnavailableError(Shown(path_) + ": the name is too long");
  }
  if (fchmod(fd_, mode) != 0) {
    return ErrnoStatus(errno, Shown(path_) + ": cannot be given its mode");
  }
  return absl::OkStatus();
}

OutputFile::~OutputFile() {
  const HoldSignals hold;
  Close();
  if (!temporary_.empty()) unlink(temporary_.c_str());
  ForgetTemporaryFile();
}

void OutputFile::Close() {
  if (owned_) close(fd_);
  owned_ = false;
  fd_ = -1;
}

absl::Status OutputFile::WriteBuffer() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, Shown(path_) + ": cannot be written");
    done += static_cast<size_t>(n);
  }
  buffer_.clear();
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  absl::Status status = WriteBuffer();
  if (!status.ok()) return status;
  if (!owned_) return absl::OkStatus();
  // A full disk may show only now.
  owned_ = false;
  if (close(fd_) != 0 && errno != EINTR) {
    return ErrnoStatus(errno, Shown(path_) + ": cannot be written");
  }
  if (temporary_.empty()) return absl::OkStatus();
  const HoldSignals hold;
  if (rename(temporary_.c_str(), target_.c_str()) != 0) {
    return ErrnoStatus(errno, Shown(path_) + ": cannot be put in its place");
  }
  temporary_.clear();
  ForgetTemporaryFile();
  return absl::OkStatus();
}

}  // namespace weir::cli
