#include "tools/cli/input/byte_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weir::cli {
namespace {

absl::Status ReadError(const std::string& name, int error) {
  return absl::UnavailableError(
      absl::StrCat(name, ": cannot read: ", std::strerror(error)));
}

class Descriptor {
 public:
  Descriptor(int fd, bool owned) : fd_(fd), owned_(owned) {}
  ~Descriptor() {
    if (owned_) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  // 0 at the end, -1 with errno set.
  ssize_t Read(char* out, size_t size) {
    for (;;) {
      const ssize_t got = read(fd_, out, size);
      if (got >= 0) {
        total_ += got;
        return got;
      }
      if (errno != EINTR) return -1;
    }
  }

  int64_t total() const { return total_; }

 private:
  const int fd_;
  const bool owned_;
  int64_t total_ = 0;
};

class AutoStream final : public ByteStream {
 public:
  AutoStream(int fd, bool owned, std::string name)
      : in_(fd, owned), name_(std::move(name)) {}

  ~AutoStream() override {
    if (mode_ == Mode::kGzip) inflateEnd(&z_);
  }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    if (mode_ == Mode::kUnknown) {
      if (absl::Status s = Detect(); !s.ok()) return s;
    }
    return mode_ == Mode::kPlain ? ReadPlain(out, size) : ReadGzip(out, size);
  }

  int64_t raw_bytes() const override { return in_.total(); }

 private:
  enum class Mode { kUnknown, kPlain, kGzip };
  static constexpr size_t kRawSize = size_t{64} << 10;

  absl::Status Detect();
  absl::StatusOr<size_t> ReadPlain(char* out, size_t size);
  absl::StatusOr<size_t> ReadGzip(char* out, size_t size);
  // Sets raw_begin_ == raw_end_ at the end of the input.
  absl::Status FillRaw();
  // Between members: true if another begins, false at the end of the input.
  absl::StatusOr<bool> NextMember();

  Descriptor in_;
  const std::string name_;
  Mode mode_ = Mode::kUnknown;
  std::unique_ptr<char[]> raw_;
  size_t raw_begin_ = 0;
  size_t raw_end_ = 0;
  z_stream z_ = {};
  bool in_member_ = true;
};

absl::Status AutoStream::Detect() {
  raw_ = std::make_unique<char[]>(kRawSize);
  // A pipe may give its first bytes one by one. Not more than needed is waited
  // for: a first byte that gzip does not begin with decides already.
  while (raw_end_ < 2) {
    if (raw_end_ == 1 && raw_[0] != '\x1f') break;
    const ssize_t got = in_.Read(raw_.get() + raw_end_, kRawSize - raw_end_);
    if (got < 0) return ReadError(name_, errno);
    if (got == 0) break;
    raw_end_ += static_cast<size_t>(got);
  }
  if (raw_end_ < 2 || raw_[0] != '\x1f' || raw_[1] != '\x8b') {
    mode_ = Mode::kPlain;
    return absl::OkStatus();
  }
  // 16: gzip, and nothing else.
  if (inflateInit2(&z_, 16 + MAX_WBITS) != Z_OK) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name_, ": no memory to unpack gzip"));
  }
  mode_ = Mode::kGzip;
  return absl::OkStatus();
}

absl::StatusOr<size_t> AutoStream::ReadPlain(char* out, size_t size) {
  if (raw_begin_ < raw_end_) {
    const size_t n = std::min(size, raw_end_ - raw_begin_);
    std::memcpy(out, raw_.get() + raw_begin_, n);
    raw_begin_ += n;
    return n;
  }
  const ssize_t got = in_.Read(out, size);
  if (got < 0) return ReadError(name_, errno);
  return static_cast<size_t>(got);
}

absl::Status AutoStream::FillRaw() {
  if (raw_begin_ < raw_end_) return absl::OkStatus();
  raw_begin_ = raw_end_ = 0;
  const ssize_t got = in_.Read(raw_.get(), kRawSize);
  if (got < 0) return ReadError(name_, errno);
  raw_end_ = static_cast<size_t>(got);
  return absl::OkStatus();
}

absl::StatusOr<bool> AutoStream::NextMember() {
  for (;;) {
    if (absl::Status s = FillRaw(); !s.ok()) return s;
    if (raw_begin_ == raw_end_) return false;
    if (raw_[raw_begin_] == '\0') {
      ++raw_begin_;
      continue;
    }
    if (raw_[raw_begin_] != '\x1f') {
      return absl::DataLossError(absl::StrCat(
          name_, ": something that is not gzip follows the gzip data, at byte ",
          in_.total() - static_cast<int64_t>(raw_end_ - raw_begin_)));
    }
    inflateReset(&z_);
    in_member_ = true;
    return true;
  }
}

absl::StatusOr<size_t> AutoStream::ReadGzip(char* out, size_t size) {
  size = std::min(size, size_t{1} << 30);  // zlib counts in 32 bits
  for (;;) {
    if (!in_member_) {
      absl::StatusOr<bool> more = NextMember();
      if (!more.ok()) return more.status();
      if (!*more) return 0;
    }
    if (absl::Status s = FillRaw(); !s.ok()) return s;
    if (raw_begin_ == raw_end_) {
      return absl::DataLossError(absl::StrCat(
          name_, ": the gzip data is cut short after ", in_.total(), " bytes"));
    }
    z_.next_in = reinterpret_cast<Bytef*>(raw_.get() + raw_begin_);
    z_.avail_in = static_cast<uInt>(raw_end_ - raw_begin_);
    z_.next_out = reinterpret_cast<Bytef*>(out);
    z_.avail_out = static_cast<uInt>(size);
    const int result = inflate(&z_, Z_NO_FLUSH);
    raw_begin_ = raw_end_ - z_.avail_in;
    const size_t got = size - z_.avail_out;
    if (result == Z_STREAM_END) {
      in_member_ = false;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return absl::DataLossError(absl::StrCat(
          name_, ": the gzip data is damaged",
          z_.msg != nullptr ? absl::StrCat(" (", z_.msg, ")") : "",
          " near byte ", in_.total() - static_cast<int64_t>(z_.avail_in)));
    }
    if (got > 0) return got;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> ByteStream::Open(
    const std::string& path) {
  int fd;
  do {
    fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot open"));
  }
  return std::unique_ptr<ByteStream>(new AutoStream(fd, true, path));
}

std::unique_ptr<ByteStream> ByteStream::FromFd(int fd,
                                               const std::string& name) {
  return std::make_unique<AutoStream>(fd, false, name);
}

}  // namespace weir::cli
