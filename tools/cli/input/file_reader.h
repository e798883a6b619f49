// What reads one file of a trace in one format.
#ifndef WEIR_TOOLS_CLI_INPUT_FILE_READER_H_
#define WEIR_TOOLS_CLI_INPUT_FILE_READER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/input/line_buffer.h"
#include "tools/cli/input/row.h"

namespace weir::cli {

class FileReader {
 public:
  virtual ~FileReader() = default;

  // As RowSource::Next, for this file alone. Leaves Row::file and
  // Malformed::file to the caller.
  virtual Event Next(Row* row, Malformed* malformed) = 0;

  // Why Next gave kError.
  virtual const absl::Status& status() const = 0;

  // Lines that were read so far.
  virtual uint64_t lines() const = 0;
};

// Readers of a file whose bytes are in `lines`, of which nothing was taken but
// a byte order mark. `lines`, `name` (for messages) and `columns` (which the
// reader fills in) must outlive them.
std::unique_ptr<FileReader> MakeCsvReader(LineBuffer* lines,
                                          const std::string& name,
                                          Columns* columns);
std::unique_ptr<FileReader> MakeLogReader(LineBuffer* lines, Columns* columns);

// Whether `line` is a CSV header of a trace: it has a column `time` or
// `time_us`.
bool IsCsvHeader(std::string_view line);

// Spaces and tabs only, or nothing at all.
inline bool IsBlankLine(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_FILE_READER_H_
