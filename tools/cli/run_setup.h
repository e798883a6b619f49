// What `weir replay` and `weir compare` do before and around their loop: read
// limits, make a limiter, open the input, say which lines were malformed.
#ifndef WEIR_TOOLS_CLI_RUN_SETUP_H_
#define WEIR_TOOLS_CLI_RUN_SETUP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/input/row.h"
#include "tools/cli/output_file.h"
#include "tools/cli/progress_line.h"
#include "tools/cli/report.h"
#include "tools/cli/report_text.h"
#include "tools/limits_json/limits_file.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir::cli {

// The options about what is read.
struct InputOptions {
  std::vector<std::string> files;
  bool strict = false;
  bool sort = false;
  size_t sort_memory_mib = 256;
};

// ReadLimits, of the algorithms that weir brings. A file that is not there is
// wrong usage, whatever the reason: InvalidArgument.
absl::StatusOr<LimitsFile> LoadLimits(const std::string& path);

// Of an embedded store for one thread, without a bound on keys or bytes.
MemoryStoreOptions EmbeddedOptions();

// An embedded store with these.
absl::StatusOr<std::shared_ptr<Store>> EmbeddedStore();

// A limiter on this store; null: on an embedded one of its own. `name`: where
// the limits come from, for messages.
absl::StatusOr<Limiter> MakeLimiter(const LimitsFile& limits,
                                    std::string_view name,
                                    std::shared_ptr<Store> store = nullptr);

// The files as one source; their own order is counted in *counts.
absl::StatusOr<std::unique_ptr<RowSource>> OpenInput(
    const InputOptions& options, InputCounts* counts, ProgressLine* progress);

// Opens what `option` (for messages) writes to; null if `path` is empty. It
// must not take the place of an input.
absl::StatusOr<std::unique_ptr<OutputFile>> OpenOutput(
    std::string_view option, const std::string& path,
    const std::vector<std::string>& inputs);

// Says on standard error which lines were malformed; the first twenty.
class MalformedLines {
 public:
  explicit MalformedLines(ProgressLine* progress) : progress_(progress) {}
  void Add(const std::string& file, uint64_t line, std::string_view reason);
  // How many more there were.
  void Finish();

 private:
  ProgressLine* progress_;
  uint64_t count_ = 0;
};

// How the text is shown; without characters outside ASCII also where the locale
// is not UTF-8.
TextOptions TextOptionsFor(bool ascii, size_t top, bool sorted);

// Says on standard error what went wrong.
ExitCode Fail(const absl::Status& status);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_RUN_SETUP_H_
