// What a trace is made of, and the interface that everything which yields one
// has: weir::cli::RowSource. A TraceReader (source.h) reads rows from files, a
// SortedSource (sorter.h) puts another source's rows in time order.
//
//   Row row;
//   for (;;) {
//     switch (source->Next(&row)) {
//       case Event::kFile:       // bind key templates to columns(row.file)
//       case Event::kRow:        // a call or an operation
//       case Event::kMalformed:  // source->malformed() says where and why
//       case Event::kEnd:        // done
//       case Event::kError:      // source->status() says why
//     }
//   }
//
// Thread safety: none; one thread owns a source.
#ifndef WEIR_TOOLS_CLI_INPUT_ROW_H_
#define WEIR_TOOLS_CLI_INPUT_ROW_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "weir/store.h"

namespace weir::cli {

// The greatest time (either way) and cost that weir takes: 2^53 - 1.
inline constexpr int64_t kMaxTraceNumber = (int64_t{1} << 53) - 1;

// The names of a file's columns, in the order of Row::fields.
class Columns {
 public:
  Columns() = default;
  explicit Columns(std::vector<std::string> names) : names_(std::move(names)) {}

  // The column's index in Row::fields, or -1. Linear: meant for set-up.
  int Find(std::string_view name) const {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return static_cast<int>(i);
    }
    return -1;
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// One line (or, in CSV, one record) that is a call or an operation.
struct Row {
  // Where it begins: a number in RowSource::files(), and the line from 1.
  int file = 0;
  uint64_t line = 0;

  // Microseconds since 1970 UTC, within +-kMaxTraceNumber.
  int64_t time_us = 0;

  // 0 to kMaxTraceNumber; 1 where the input has no column `cost`.
  int64_t cost = 1;

  // kCheck where the input has no column `op`.
  Op op = Op::kCheck;

  // The text of each column of the row's file, time, cost and op included.
  // Any bytes, of any length up to the length of a line. The views hold until
  // the next call of Next.
  absl::Span<const std::string_view> fields;
};

// A line that is neither a call nor an operation.
struct Malformed {
  int file = 0;
  // From 1. A CSV record over several lines is known by its first; the reason
  // then says which lines were skipped.
  uint64_t line = 0;
  // For a person: what is wrong, with the column and the value where there is
  // one. Short, and plain ASCII: other bytes are escaped.
  std::string reason;
};

enum class Event {
  // The columns of row->file are known from here on. Comes once for each file,
  // before its first row. An empty file, or a log without a single call, has
  // no such event.
  kFile,
  kRow,
  kMalformed,
  kEnd,
  kError,
};

// How far a source has come, for a progress line.
struct Progress {
  uint64_t lines = 0;
  // As the files hold them: of a .gz, the compressed ones.
  int64_t bytes = 0;
  // Of all files together, or -1 where one of them is a pipe.
  int64_t total_bytes = -1;
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  // What comes next. Writes *row for kRow; only row->file for kFile. After
  // kEnd or kError every further call gives the same again.
  [[nodiscard]] virtual Event Next(Row* row) = 0;

  // The last line that was malformed. Valid after Next gave kMalformed.
  virtual const Malformed& malformed() const = 0;

  // Why Next gave kError; else ok. InvalidArgument: the input is not a trace
  // (the message names the file and what is missing). Anything else: it could
  // not be read.
  virtual const absl::Status& status() const = 0;

  // The names of the inputs as they were given; standard input is `-`.
  virtual const std::vector<std::string>& files() const = 0;

  // The columns of a file for which kFile came; before that, none. The
  // reference holds as long as the source.
  virtual const Columns& columns(int file) const = 0;

  virtual Progress progress() const = 0;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_ROW_H_
