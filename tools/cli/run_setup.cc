#include "tools/cli/run_setup.h"

#include <langinfo.h>

#include <clocale>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/text.h"
#include "tools/cli/input/sorter.h"
#include "tools/cli/input/source.h"
#include "tools/cli/replay.h"
#include "tools/cli/trace_run.h"
#include "tools/limits_json/printable.h"
#include "weir/clock.h"
#include "weir/memory_store.h"

namespace weir::cli {
namespace {

// Malformed lines that are shown; all are counted.
constexpr uint64_t kMalformedShown = 20;

}  // namespace

absl::StatusOr<LimitsFile> LoadLimits(const std::string& path) {
  absl::StatusOr<LimitsFile> limits =
      ReadLimits(path, Registry::BuiltIn(), SteadyClock().Now());
  if (limits.ok()) return limits;
  return absl::InvalidArgumentError(limits.status().message());
}

MemoryStoreOptions EmbeddedOptions() {
  MemoryStoreOptions options;
  options.max_keys = 0;
  options.max_bytes = 0;
  // A late row meets what its key has seen, as it does on Redis.
  options.slack = Micros::max();
  // One thread asks; more stripes would only be more memory.
  options.stripes = 1;
  return options;
}

absl::StatusOr<std::shared_ptr<Store>> EmbeddedStore() {
  absl::StatusOr<std::shared_ptr<MemoryStore>> store =
      MemoryStore::Create(EmbeddedOptions());
  if (!store.ok()) return store.status();
  return std::shared_ptr<Store>(*std::move(store));
}

absl::StatusOr<Limiter> MakeLimiter(const LimitsFile& limits,
                                    std::string_view name,
                                    std::shared_ptr<Store> store) {
  if (store == nullptr) {
    absl::StatusOr<std::shared_ptr<Store>> made = EmbeddedStore();
    if (!made.ok()) return made.status();
    store = *std::move(made);
  }
  LimiterOptions options;
  options.trust_tags = true;
  absl::StatusOr<Limiter> limiter =
      Limiter::Create(std::move(store), limits.rules, options);
  if (limiter.ok()) return limiter;
  return InvalidArgument(Printable(name, 200), ": ",
                         limiter.status().message());
}

absl::StatusOr<std::unique_ptr<RowSource>> OpenInput(
    const InputOptions& options, InputCounts* counts, ProgressLine* progress) {
  absl::StatusOr<std::unique_ptr<TraceReader>> reader =
      TraceReader::Open(options.files);
  if (!reader.ok()) return reader.status();
  // Sorting reads everything before there is a row to decide.
  OrderWatch::OnProgress on_progress;
  if (options.sort) {
    on_progress = [progress](const Progress& p) { progress->Show(p); };
  }
  std::unique_ptr<RowSource> source = std::make_unique<OrderWatch>(
      *std::move(reader), counts, std::move(on_progress));
  if (options.sort) {
    SortOptions sort_options;
    sort_options.memory_bytes = options.sort_memory_mib << 20;
    source = SortedSource::Create(std::move(source), sort_options);
  }
  return source;
}

absl::StatusOr<std::unique_ptr<OutputFile>> OpenOutput(
    std::string_view option, const std::string& path,
    const std::vector<std::string>& inputs) {
  if (path.empty()) return std::unique_ptr<OutputFile>();
  for (const std::string& input : inputs) {
    std::error_code none;  // one of them is not there
    if (std::filesystem::is_regular_file(input, none) &&
        std::filesystem::equivalent(input, path, none)) {
      return InvalidArgument(Sv(option), ": ", Printable(input, 200),
                             " is an input; allowed: another file");
    }
  }
  return OutputFile::Create(path);
}

void MalformedLines::Add(const std::string& file, uint64_t line,
                         std::string_view reason) {
  if (++count_ > kMalformedShown) return;
  progress_->Clear();
  std::fprintf(stderr, "%s\n", MalformedText(file, line, reason).c_str());
}

void MalformedLines::Finish() {
  progress_->Clear();
  if (count_ <= kMalformedShown) return;
  std::fprintf(stderr, "weir: %llu more malformed lines, not shown\n",
               static_cast<unsigned long long>(count_ - kMalformedShown));
}

TextOptions TextOptionsFor(bool ascii, size_t top, bool sorted) {
  std::setlocale(LC_CTYPE, "");
  TextOptions options;
  options.ascii = ascii || std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
  options.top = top;
  options.sorted = sorted;
  return options;
}

ExitCode Fail(const absl::Status& status) {
  const absl::string_view message = status.message();
  std::fprintf(stderr, "weir: %.*s\n", static_cast<int>(message.size()),
               message.data());
  return ExitCodeFor(status);
}

}  // namespace weir::cli
