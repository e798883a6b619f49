// Puts the rows of a trace in time order; rows of equal time stay in the order
// in which they were read.
//
//   auto sorted = SortedSource::Create(std::move(reader));
//   sorted->Next(&row)  // as with any source
//
// The first call of Next reads everything; the kFile and kMalformed events of
// the inner source come out while it does, all of them before the first row.
// Rows keep their file and line numbers.
//
// Memory: `memory_bytes`, or what merging needs if that is more (64 runs, each
// with its longest row: a few MiB with rows of ordinary length). What does not
// fit is written to a temporary file in sorted runs and merged. The file lies
// in TMPDIR (else /tmp), has no name, and is gone when the source is, however
// the process ends. It takes about as much room as the rows' text, twice that
// while many runs (more than 64) are merged in several passes.
#ifndef WEIR_TOOLS_CLI_INPUT_SORTER_H_
#define WEIR_TOOLS_CLI_INPUT_SORTER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/input/row.h"

namespace weir::cli {

struct SortOptions {
  size_t memory_bytes = size_t{256} << 20;

  // Where the temporary file goes. Empty: the environment variable TMPDIR,
  // else /tmp.
  std::string temp_dir;

  // How many runs are merged at once, at least 2. Only tests need another.
  int fan_in = 64;
};

class SortedSource final : public RowSource {
 public:
  // `inner` must not have been read from.
  static std::unique_ptr<SortedSource> Create(std::unique_ptr<RowSource> inner,
                                              SortOptions options = {});

  ~SortedSource() override;

  // kError also if the temporary file cannot be made, written
  // (ResourceExhausted if the disk is full) or read; the message names the
  // folder.
  [[nodiscard]] Event Next(Row* row) override;
  const Malformed& malformed() const override;
  const absl::Status& status() const override;
  const std::vector<std::string>& files() const override;
  const Columns& columns(int file) const override;
  Progress progress() const override;

 private:
  class Impl;
  explicit SortedSource(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_SORTER_H_
