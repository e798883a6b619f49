// Merges sorted runs of encoded rows that lie in a temporary file.
#ifndef WEIR_TOOLS_CLI_INPUT_RUN_MERGER_H_
#define WEIR_TOOLS_CLI_INPUT_RUN_MERGER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/input/row.h"
#include "tools/cli/input/temp_file.h"

namespace weir::cli {

// Bytes [begin, end) of a file: encoded rows in time order.
struct Run {
  uint64_t begin = 0;
  uint64_t end = 0;
};

class RunMerger {
 public:
  // `file` must be flushed and outlive the merger. Of two rows of equal time
  // that of the earlier run comes first. Each run is read through a buffer of
  // `buffer_size` bytes, or of its longest row if that is more.
  RunMerger(const TempFile* file, const std::vector<Run>& runs,
            size_t buffer_size);

  // The next row, or null at the end. Valid until the next call.
  absl::Status Next(const Row** row);

  // The row that Next gave last as it is encoded, its size included.
  std::string_view encoded() const { return readers_[top_].encoded; }

 private:
  struct Reader {
    Run left;  // of the file, behind what is in the buffer
    std::vector<char> buffer;
    size_t begin = 0;  // of the buffer, what was not given yet
    size_t end = 0;
    std::string_view encoded;
    Row row;
    std::vector<std::string_view> fields;
  };

  // Reads a run's next row; *found is false at its end.
  absl::Status Advance(Reader* reader, bool* found);
  absl::Status Fill(Reader* reader, size_t needed);
  // Whether the row of run `a` comes after that of run `b`.
  bool After(size_t a, size_t b) const;
  absl::Status Push(size_t run);

  const TempFile* const file_;
  const size_t buffer_size_;
  std::vector<Reader> readers_;
  std::vector<size_t> heap_;
  bool started_ = false;
  size_t top_ = 0;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_RUN_MERGER_H_
