#include "tools/cli/replay_command.h"

#include <langinfo.h>

#include <clocale>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "core/text.h"
#include "tools/cli/input/sorter.h"
#include "tools/cli/input/source.h"
#include "tools/cli/limits_file.h"
#include "tools/cli/output_file.h"
#include "tools/cli/printable.h"
#include "tools/cli/progress_line.h"
#include "tools/cli/replay.h"
#include "tools/cli/report.h"
#include "tools/cli/report_json.h"
#include "tools/cli/report_text.h"
#include "tools/cli/write_text.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

namespace weir::cli {
namespace {

// Malformed lines that are shown; all are counted.
constexpr uint64_t kMalformedShown = 20;

bool TerminalIsAscii() {
  std::setlocale(LC_CTYPE, "");
  return std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

ExitCode Fail(const absl::Status& status) {
  const absl::string_view message = status.message();
  std::fprintf(stderr, "weir: %.*s\n", static_cast<int>(message.size()),
               message.data());
  return ExitCodeFor(status);
}

absl::StatusOr<LimitsFile> Limits(const std::string& path) {
  absl::StatusOr<LimitsFile> limits =
      ReadLimits(path, Registry::BuiltIn(), SteadyClock().Now());
  if (limits.ok()) return limits;
  // A limits file that is not there is wrong usage, whatever the reason.
  return absl::InvalidArgumentError(limits.status().message());
}

absl::StatusOr<Limiter> MakeLimiter(const LimitsFile& limits) {
  MemoryStoreOptions store_options;
  store_options.max_keys = 0;
  // One thread asks; more stripes would only be more memory.
  store_options.stripes = 1;
  absl::StatusOr<std::shared_ptr<MemoryStore>> store =
      MemoryStore::Create(store_options);
  if (!store.ok()) return store.status();
  LimiterOptions options;
  options.trust_tags = true;
  return Limiter::Create(*std::move(store), limits.rules, options);
}

absl::StatusOr<std::unique_ptr<RowSource>> OpenInput(
    const ReplayOptions& options, InputCounts* counts, ProgressLine* progress) {
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

// Opens the file of decisions; null if none is wanted. It must not take the
// place of what is read.
absl::StatusOr<std::unique_ptr<OutputFile>> OpenDecisions(
    const ReplayOptions& options) {
  if (options.decisions.empty()) return std::unique_ptr<OutputFile>();
  std::vector<std::string> inputs = options.files;
  inputs.push_back(options.limits);
  for (const std::string& input : inputs) {
    std::error_code none;  // one of them is not there
    if (std::filesystem::is_regular_file(input, none) &&
        std::filesystem::equivalent(input, options.decisions, none)) {
      return InvalidArgument("--decisions: ", Printable(input, 200),
                             " is an input; allowed: another file");
    }
  }
  return OutputFile::Create(options.decisions);
}

// Says on standard error which lines were malformed.
class MalformedLines {
 public:
  explicit MalformedLines(ProgressLine* progress) : progress_(progress) {}

  void Add(const std::string& file, uint64_t line, std::string_view reason) {
    if (++count_ > kMalformedShown) return;
    progress_->Clear();
    std::fprintf(stderr, "%s:%llu: %s\n", Printable(file, 200).c_str(),
                 static_cast<unsigned long long>(line),
                 Printable(reason, 300).c_str());
  }

  void Finish() {
    progress_->Clear();
    if (count_ <= kMalformedShown) return;
    std::fprintf(stderr, "weir: %llu more malformed lines, not shown\n",
                 static_cast<unsigned long long>(count_ - kMalformedShown));
  }

 private:
  ProgressLine* progress_;
  uint64_t count_ = 0;
};

absl::Status WriteReport(const ReplayOptions& options, const Report& report,
                         const std::vector<std::string>& files) {
  std::string text;
  if (options.json) {
    text = ReportJson(report, files, options.top, options.sort);
  } else {
    TextOptions text_options;
    text_options.ascii = options.ascii || TerminalIsAscii();
    text_options.top = options.top;
    text_options.sorted = options.sort;
    text = ReportText(report, files, text_options);
  }
  return WriteText(text, "the report",
                   options.decisions == "-" ? stderr : stdout);
}

absl::Status Run(const ReplayOptions& options) {
  absl::StatusOr<LimitsFile> limits = Limits(options.limits);
  if (!limits.ok()) return limits.status();
  absl::StatusOr<Limiter> limiter = MakeLimiter(*limits);
  if (!limiter.ok()) {
    return InvalidArgument(Printable(options.limits, 200), ": ",
                           limiter.status().message());
  }
  Report report(*limits);
  ProgressLine progress;
  absl::StatusOr<std::unique_ptr<RowSource>> source =
      OpenInput(options, report.mutable_input(), &progress);
  if (!source.ok()) return source.status();
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenDecisions(options);
  if (!file.ok()) return file.status();
  OutputFile* decisions = file->get();

  MalformedLines malformed(&progress);
  ReplayParts parts;
  parts.source = source->get();
  parts.limiter = &*limiter;
  parts.limits = &*limits;
  parts.limits_name = Printable(options.limits, 200);
  parts.report = &report;
  parts.decisions = decisions;
  parts.strict = options.strict;
  parts.on_malformed = [&](const std::string& name, uint64_t line,
                           std::string_view reason) {
    malformed.Add(name, line, reason);
  };
  parts.on_progress = [&](const Progress& p) { progress.Show(p); };
  absl::Status status = Replay(std::move(parts)).Run();
  malformed.Finish();
  if (status.ok() && decisions != nullptr) status = decisions->Commit();
  if (!status.ok()) return status;
  return WriteReport(options, report, (*source)->files());
}

}  // namespace

ExitCode RunReplay(const ReplayOptions& options) {
  const absl::Status status = Run(options);
  return status.ok() ? kOk : Fail(status);
}

}  // namespace weir::cli
