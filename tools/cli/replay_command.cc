#include "tools/cli/replay_command.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "tools/cli/replay.h"
#include "tools/cli/replay_store.h"
#include "tools/cli/report.h"
#include "tools/cli/report_json.h"
#include "tools/cli/report_text.h"
#include "tools/cli/write_text.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

absl::Status WriteReport(const ReplayOptions& options, const Report& report,
                         const std::vector<std::string>& files) {
  std::string text;
  if (options.json) {
    text = ReportJson(report, files, options.top, options.input.sort);
  } else {
    text = ReportText(
        report, files,
        TextOptionsFor(options.ascii, options.top, options.input.sort));
  }
  return WriteText(text, "the report",
                   options.decisions == "-" ? stderr : stdout);
}

absl::Status RunOn(const ReplayOptions& options, const LimitsFile* limits,
                   const std::shared_ptr<Store>& store) {
  absl::StatusOr<Limiter> limiter = MakeLimiter(*limits, options.limits, store);
  if (!limiter.ok()) return limiter.status();
  Report report(*limits);
  ProgressLine progress;
  absl::StatusOr<std::unique_ptr<RowSource>> source =
      OpenInput(options.input, report.mutable_input(), &progress);
  if (!source.ok()) return source.status();
  std::vector<std::string> inputs = options.input.files;
  inputs.push_back(options.limits);
  absl::StatusOr<std::unique_ptr<OutputFile>> file =
      OpenOutput("--decisions", options.decisions, inputs);
  if (!file.ok()) return file.status();
  OutputFile* decisions = file->get();

  MalformedLines malformed(&progress);
  ReplayParts parts;
  parts.source = source->get();
  parts.limiter = &*limiter;
  parts.limits = limits;
  parts.limits_name = Printable(options.limits, 200);
  parts.report = &report;
  parts.decisions = decisions;
  parts.strict = options.input.strict;
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

absl::Status Run(const ReplayOptions& options) {
  absl::StatusOr<LimitsFile> limits = LoadLimits(options.limits);
  if (!limits.ok()) return limits.status();
  absl::StatusOr<ReplayStore> store =
      OpenReplayStore(options.store, options.name_space);
  if (!store.ok()) return store.status();
  const absl::Status status = RunOn(options, &*limits, store->store);
  const absl::Status removed = store->remove();
  return status.ok() ? removed : status;
}

}  // namespace

ExitCode RunReplay(const ReplayOptions& options) {
  const absl::Status status = Run(options);
  return status.ok() ? kOk : Fail(status);
}

}  // namespace weir::cli
