// Helpers of the input's tests: traces out of strings, and what came of them
// as text.
#ifndef WEIR_TOOLS_CLI_INPUT_TEST_TRACE_H_
#define WEIR_TOOLS_CLI_INPUT_TEST_TRACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/input/row.h"
#include "tools/cli/input/source.h"

namespace weir::cli {

// A folder that is removed with all that was written to it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

  // Writes a file and returns its path.
  std::string Write(const std::string& name, std::string_view content) const;

 private:
  std::string path_;
};

// One event, with copies of what it showed.
struct Seen {
  Event event = Event::kEnd;
  int file = 0;
  uint64_t line = 0;
  int64_t time_us = 0;
  int64_t cost = 0;
  Op op = Op::kCheck;
  std::vector<std::string> fields;
  std::string reason;

  bool operator==(const Seen& o) const;
};
std::ostream& operator<<(std::ostream& os, const Seen& seen);

// All events up to kEnd or kError, these included. A row that breaks the
// promises of row.h fails the test.
std::vector<Seen> ReadAll(RowSource* source);

// The same for one file with this content.
std::vector<Seen> ReadText(std::string_view content);

// Events short enough to compare: "row 2 1000000 1 check a|b|c",
// "malformed 3 REASON", "file", "error STATUS".
std::vector<std::string> Short(const std::vector<Seen>& seen);

// As `gzip` would, one member.
std::string Gzip(std::string_view content);

// Real data of this name, or nullopt if it is not there: in the folder
// WEIR_TEST_DATA, else beside the source tree.
std::optional<std::string> RealData(const std::string& name);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_TEST_TRACE_H_
