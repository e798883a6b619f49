// Reads traces: CSV and access logs, plain or gzip, one file after the other.
//
//   absl::StatusOr<std::unique_ptr<TraceReader>> reader =
//       TraceReader::Open({"monday.log.gz", "-"});
//
// Every line is either a row or reported as malformed with its number; only a
// CSV header is neither. Each file has its own format, found by its content:
// if its first line that is not blank is a CSV header (it has a column `time`
// or `time_us`) the file is CSV; else it is an access log, provided that a
// line near its beginning (within the first MiB) reads as one. A file that is
// neither is InvalidArgument. An empty file has no rows.
//
// Both formats. Lines end in LF or CR LF, the last one may lack it. A UTF-8
// byte order mark at a file's start is skipped. Bytes that are not UTF-8 and
// NUL bytes are kept. A line longer than 1 MiB is malformed, and so is a blank
// one.
//
// CSV. RFC 4180: a field that begins with a quote ends at the next single
// quote, "" in it is a quote, and commas and line ends in it are text; a quote
// elsewhere is text. Nothing is trimmed. The header names every column once
// and has exactly one of
//   time     Unix seconds with up to 6 decimals: 1700000000.25
//   time_us  Unix microseconds, an integer
// and may have `cost` (an integer from 0 to 2^53 - 1) and `op` (check, peek,
// refund or reset). A record with another number of fields, or with a time,
// cost or op that is not as above (an empty one included), is malformed. A
// record whose quotes do not come right is malformed up to the end of its
// first line; reading goes on at the next.
//
// Access log. Common or combined format, also with a virtual host in front or
// fields behind: access_log.h says what is read how. The columns are client,
// user, method, path, status, bytes, and host if the file's first call has
// one. What a line lacks reads `-`, as logs write it.
//
// Memory: a few MiB, whatever the input. Cost: no allocation for a row.
#ifndef WEIR_TOOLS_CLI_INPUT_SOURCE_H_
#define WEIR_TOOLS_CLI_INPUT_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/input/row.h"

namespace weir::cli {

struct TraceReaderOptions {
  // What `-` reads from. Not closed.
  int stdin_fd = 0;
};

class TraceReader final : public RowSource {
 public:
  // `files`: paths, read in this order; `-` (at most once) is standard input.
  // Says at once if one of them is not there, is a folder, or may not be
  // read: NotFound, InvalidArgument, PermissionDenied. What a file holds is
  // looked at only when its turn comes.
  static absl::StatusOr<std::unique_ptr<TraceReader>> Open(
      std::vector<std::string> files, TraceReaderOptions options = {});

  ~TraceReader() override;

  [[nodiscard]] Event Next(Row* row) override;
  const Malformed& malformed() const override;
  const absl::Status& status() const override;
  const std::vector<std::string>& files() const override;
  const Columns& columns(int file) const override;
  Progress progress() const override;

 private:
  class Impl;
  explicit TraceReader(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_SOURCE_H_
