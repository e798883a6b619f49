#include "tools/cli/input/source.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/text.h"
#include "tools/cli/input/access_log.h"
#include "tools/cli/input/byte_stream.h"
#include "tools/cli/input/file_reader.h"
#include "tools/cli/input/line_buffer.h"
#include "tools/cli/input/shown.h"

namespace weir::cli {
namespace {

enum class Format { kCsv, kLog };

// The size of what can be read at `path`, or -1 for a pipe and the like.
absl::StatusOr<int64_t> CheckReadable(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || access(path.c_str(), R_OK) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot open"));
  }
  if (S_ISDIR(info.st_mode)) {
    return InvalidArgument(path, ": a folder; allowed are files and -");
  }
  return S_ISREG(info.st_mode) ? static_cast<int64_t>(info.st_size) : -1;
}

// Looks at the beginning of a file and takes nothing off it.
absl::StatusOr<Format> Detect(LineBuffer* lines, const std::string& name) {
  std::string first;
  size_t offset = 0;
  for (;;) {
    size_t size = 0;
    size_t next = 0;
    switch (lines->Find(offset, &size, &next)) {
      case LineBuffer::Found::kLine:
        break;
      case LineBuffer::Found::kError:
        return lines->status();
      case LineBuffer::Found::kTooLong:
        if (first.empty()) return Format::kLog;
        [[fallthrough]];
      case LineBuffer::Found::kEnd:
        if (first.empty()) return Format::kLog;  // nothing but blank lines
        return InvalidArgument(
            name,
            ": neither an access log nor CSV whose header has a column time "
            "(Unix seconds) or time_us (Unix microseconds); it begins with ",
            first);
    }
    const std::string_view line(lines->data() + offset, size);
    offset = next;
    if (IsBlankLine(line)) continue;
    if (first.empty()) {
      if (IsCsvHeader(line)) return Format::kCsv;
      first = Shown(line);
    }
    AccessLine call;
    LineProblem problem;
    if (ParseAccessLine(line, &call, &problem)) return Format::kLog;
  }
}

}  // namespace

class TraceReader::Impl {
 public:
  Impl(std::vector<std::string> files, int64_t total_bytes, int stdin_fd)
      : files_(std::move(files)),
        columns_(files_.size()),
        total_bytes_(total_bytes),
        stdin_fd_(stdin_fd) {}

  Event Next(Row* row);
  const Malformed& malformed() const { return malformed_; }
  const absl::Status& status() const { return status_; }
  const std::vector<std::string>& files() const { return files_; }
  const Columns& columns(int file) const {
    return columns_[static_cast<size_t>(file)];
  }
  Progress progress() const;

 private:
  absl::Status OpenFile();
  void CloseFile();

  const std::vector<std::string> files_;
  std::vector<Columns> columns_;
  const int64_t total_bytes_;
  const int stdin_fd_;

  // The file that is being read, or to be opened next.
  size_t file_ = 0;
  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<LineBuffer> lines_;
  std::unique_ptr<FileReader> reader_;

  Malformed malformed_;
  absl::Status status_;
  // Of the files before.
  Progress before_;
};

absl::Status TraceReader::Impl::OpenFile() {
  const std::string& name = files_[file_];
  if (name == "-") {
    stream_ = ByteStream::FromFd(stdin_fd_, "standard input");
  } else {
    absl::StatusOr<std::unique_ptr<ByteStream>> stream = ByteStream::Open(name);
    if (!stream.ok()) return stream.status();
    stream_ = *std::move(stream);
  }
  lines_ = std::make_unique<LineBuffer>(stream_.get());
  if (absl::Status s = lines_->SkipByteOrderMark(); !s.ok()) return s;
  absl::StatusOr<Format> format = Detect(lines_.get(), name);
  if (!format.ok()) return format.status();
  Columns* const columns = &columns_[file_];
  reader_ = *format == Format::kCsv ? MakeCsvReader(lines_.get(), name, columns)
                                    : MakeLogReader(lines_.get(), columns);
  return absl::OkStatus();
}

void TraceReader::Impl::CloseFile() {
  before_.lines += reader_->lines();
  before_.bytes += stream_->raw_bytes();
  reader_.reset();
  lines_.reset();
  stream_.reset();
  ++file_;
}

Event TraceReader::Impl::Next(Row* row) {
  for (;;) {
    if (!status_.ok()) return Event::kError;
    if (reader_ == nullptr) {
      if (file_ == files_.size()) return Event::kEnd;
      status_ = OpenFile();
      continue;
    }
    const Event event = reader_->Next(row, &malformed_);
    switch (event) {
      case Event::kRow:
      case Event::kFile:
        row->file = static_cast<int>(file_);
        return event;
      case Event::kMalformed:
        malformed_.file = static_cast<int>(file_);
        return event;
      case Event::kEnd:
        CloseFile();
        break;
      case Event::kError:
        status_ = reader_->status();
        break;
    }
  }
}

Progress TraceReader::Impl::progress() const {
  Progress progress = before_;
  if (reader_ != nullptr) progress.lines += reader_->lines();
  if (stream_ != nullptr) progress.bytes += stream_->raw_bytes();
  progress.total_bytes = total_bytes_;
  return progress;
}

absl::StatusOr<std::unique_ptr<TraceReader>> TraceReader::Open(
    std::vector<std::string> files, TraceReaderOptions options) {
  if (files.empty()) return absl::InvalidArgumentError("no input file");
  if (std::count(files.begin(), files.end(), "-") > 1) {
    return absl::InvalidArgumentError(
        "- (standard input) is given more than once");
  }
  int64_t total = 0;
  for (const std::string& file : files) {
    int64_t size = -1;
    if (file != "-") {
      absl::StatusOr<int64_t> checked = CheckReadable(file);
      if (!checked.ok()) return checked.status();
      size = *checked;
    }
    total = total < 0 || size < 0 ? -1 : total + size;
  }
  return std::unique_ptr<TraceReader>(new TraceReader(
      std::make_unique<Impl>(std::move(files), total, options.stdin_fd)));
}

TraceReader::TraceReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceReader::~TraceReader() = default;
Event TraceReader::Next(Row* row) { return impl_->Next(row); }
const Malformed& TraceReader::malformed() const { return impl_->malformed(); }
const absl::Status& TraceReader::status() const { return impl_->status(); }
const std::vector<std::string>& TraceReader::files() const {
  return impl_->files();
}
const Columns& TraceReader::columns(int file) const {
  return impl_->columns(file);
}
Progress TraceReader::progress() const { return impl_->progress(); }

}  // namespace weir::cli
