// The access log half of file_reader.h.
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/cli/input/access_log.h"
#include "tools/cli/input/file_reader.h"
#include "tools/cli/input/shown.h"

namespace weir::cli {
namespace {

class LogReader final : public FileReader {
 public:
  LogReader(LineBuffer* lines, Columns* columns)
      : lines_(lines), columns_(columns) {}

  Event Next(Row* row, Malformed* malformed) override;
  const absl::Status& status() const override { return status_; }
  uint64_t lines() const override { return line_; }

 private:
  void NameColumns(bool with_host);

  LineBuffer* const lines_;
  Columns* const columns_;
  absl::Status status_;
  // The line that was looked at last, and how much of the window it takes.
  uint64_t line_ = 0;
  size_t pending_ = 0;
  // 0 until the first call was seen.
  size_t column_count_ = 0;
  std::array<std::string_view, 7> fields_;
};

void LogReader::NameColumns(bool with_host) {
  std::vector<std::string> names = {"client", "user",   "method",
                                    "path",   "status", "bytes"};
  if (with_host) names.push_back("host");
  column_count_ = names.size();
  *columns_ = Columns(std::move(names));
}

Event LogReader::Next(Row* row, Malformed* malformed) {
  lines_->Consume(pending_);
  pending_ = 0;
  size_t size = 0;
  size_t next = 0;
  switch (lines_->Find(0, &size, &next)) {
    case LineBuffer::Found::kLine:
      break;
    case LineBuffer::Found::kTooLong:
      malformed->line = ++line_;
      malformed->reason = "longer than 1 MiB";
      // If reading fails here the next call says so.
      lines_->SkipLine().IgnoreError();
      return Event::kMalformed;
    case LineBuffer::Found::kEnd:
      return Event::kEnd;
    case LineBuffer::Found::kError:
      status_ = lines_->status();
      return Event::kError;
  }
  AccessLine call;
  LineProblem problem;
  if (!ParseAccessLine({lines_->data(), size}, &call, &problem)) {
    pending_ = next;
    malformed->line = ++line_;
    malformed->reason = problem.what;
    if (!problem.value.empty()) {
      absl::StrAppend(&malformed->reason, ": ", Shown(problem.value));
    }
    return Event::kMalformed;
  }
  if (column_count_ == 0) {
    // The line is still in the window: it comes again as a row.
    NameColumns(call.host != "-");
    return Event::kFile;
  }
  pending_ = next;
  fields_ = {call.client, call.user,  call.method, call.path,
             call.status, call.bytes, call.host};
  row->line = ++line_;
  row->time_us = call.time_us;
  row->cost = 1;
  row->op = Op::kCheck;
  row->fields = absl::MakeConstSpan(fields_.data(), column_count_);
  return Event::kRow;
}

}  // namespace

std::unique_ptr<FileReader> MakeLogReader(LineBuffer* lines, Columns* columns) {
  return std::make_unique<LogReader>(lines, columns);
}

}  // namespace weir::cli
