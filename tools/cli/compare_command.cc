#include "tools/cli/compare_command.h"

#include <cstdio>
#include <deque>
#include <memory>
#include <utility>

#include "core/text.h"
#include "tools/cli/comparison.h"
#include "tools/cli/comparison_text.h"
#include "tools/cli/rule_keys.h"
#include "tools/cli/trace_run.h"
#include "tools/cli/typed_limit.h"
#include "tools/cli/write_text.h"
#include "tools/limits_json/printable.h"
#include "weir/clock.h"

namespace weir::cli {
namespace {

// One of the limits, ready to be asked.
struct Candidate {
  std::string name;
  LimitsFile limits;
  std::unique_ptr<Limiter> limiter;
  bool or_client = false;
};

// They do not move: subjects point to them.
using Candidates = std::deque<Candidate>;

absl::Status Add(std::string name, LimitsFile limits, bool or_client,
                 Candidates* out) {
  absl::StatusOr<Limiter> limiter = MakeLimiter(limits, name);
  if (!limiter.ok()) return limiter.status();
  out->push_back({std::move(name), std::move(limits),
                  std::make_unique<Limiter>(*std::move(limiter)), or_client});
  return absl::OkStatus();
}

// Each rule of a file as a limit of its own.
absl::Status AddEach(const std::string& path, Candidates* out) {
  absl::StatusOr<LimitsFile> all = LoadLimits(path);
  if (!all.ok()) return all.status();
  for (size_t i = 0; i < all->rules.size(); ++i) {
    LimitsFile one;
    one.rules.push_back(all->rules[i]);
    one.keys.push_back(all->keys[i]);
    absl::Status status = Add(absl::StrCat(path, ": ", all->rules[i].name),
                              std::move(one), false, out);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<Candidates> MakeCandidates(const CompareOptions& options) {
  Candidates out;
  for (const std::string& path : options.limits) {
    absl::StatusOr<LimitsFile> limits = LoadLimits(path);
    absl::Status status = limits.status();
    if (status.ok()) status = Add(path, *std::move(limits), false, &out);
    if (!status.ok()) return status;
  }
  for (const std::string& path : options.each) {
    absl::Status status = AddEach(path, &out);
    if (!status.ok()) return status;
  }
  for (const std::string& text : options.typed) {
    absl::StatusOr<LimitsFile> limits = ParseTypedLimit(
        text, options.key, Registry::BuiltIn(), SteadyClock().Now());
    absl::Status status = limits.status();
    if (status.ok()) {
      status = Add(text, *std::move(limits), options.key.empty(), &out);
    }
    if (!status.ok()) return status;
  }
  if (out.size() < 2 || out.size() > kMaxCompared) {
    return InvalidArgument("compare: ", out.size(), " limits; allowed: 2 to ",
                           kMaxCompared,
                           ", each from --limits, --each or --limit");
  }
  return out;
}

// The source was read to its end.
void NameKeys(const Candidates& candidates, const RowSource& source,
              Comparison* comparison) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    const std::vector<KeyTemplate>& keys = candidates[i].limits.keys;
    for (size_t rule = 0; rule < keys.size(); ++rule) {
      comparison->mutable_report(i)->NameKey(
          rule, KeyText(keys[rule], candidates[i].or_client, source));
    }
  }
}

absl::Status Write(const CompareOptions& options, const Comparison& comparison,
                   const std::vector<std::string>& files) {
  std::string text;
  if (options.json) {
    text = ComparisonJson(comparison, files, options.top, options.input.sort);
  } else {
    text = ComparisonText(
        comparison, files,
        TextOptionsFor(options.ascii, options.top, options.input.sort));
  }
  return WriteText(text, "the comparison",
                   options.differences == "-" ? stderr : stdout);
}

absl::Status Run(const CompareOptions& options) {
  absl::StatusOr<Candidates> candidates = MakeCandidates(options);
  if (!candidates.ok()) return candidates.status();
  std::vector<Compared> compared;
  std::vector<Subject> subjects;
  for (const Candidate& candidate : *candidates) {
    compared.push_back({candidate.name, &candidate.limits});
    subjects.push_back({candidate.limiter.get(), &candidate.limits,
                        Printable(candidate.name, 200), candidate.or_client});
  }
  Comparison comparison(std::move(compared), options.top);
  ProgressLine progress;
  absl::StatusOr<std::unique_ptr<RowSource>> source =
      OpenInput(options.input, comparison.mutable_input(), &progress);
  if (!source.ok()) return source.status();
  std::vector<std::string> inputs = options.input.files;
  inputs.insert(inputs.end(), options.limits.begin(), options.limits.end());
  inputs.insert(inputs.end(), options.each.begin(), options.each.end());
  absl::StatusOr<std::unique_ptr<OutputFile>> file =
      OpenOutput("--differences", options.differences, inputs);
  if (!file.ok()) return file.status();
  OutputFile* differences = file->get();

  const std::vector<std::string>& files = (*source)->files();
  MalformedLines malformed(&progress);
  TraceRunParts run;
  run.source = source->get();
  run.subjects = std::move(subjects);
  run.counts = comparison.mutable_input();
  run.strict = options.input.strict;
  run.on_malformed = [&](const std::string& name, uint64_t line,
                         std::string_view reason) {
    malformed.Add(name, line, reason);
  };
  run.on_progress = [&](const Progress& p) { progress.Show(p); };
  run.on_row = [&](const Row& row, absl::Span<const Answer> answers) {
    const bool differs = comparison.Add(row, answers);
    if (!differs || differences == nullptr) return absl::OkStatus();
    AppendDifference(
        comparison,
        files.size() > 1 ? files[static_cast<size_t>(row.file)] : "", row,
        answers, differences->buffer());
    return differences->Flush(OutputFile::kFlushBytes);
  };
  absl::Status status = TraceRun(std::move(run)).Run();
  malformed.Finish();
  if (status.ok() && differences != nullptr) status = differences->Commit();
  if (!status.ok()) return status;
  NameKeys(*candidates, **source, &comparison);
  return Write(options, comparison, files);
}

}  // namespace

ExitCode RunCompare(const CompareOptions& options) {
  const absl::Status status = Run(options);
  return status.ok() ? kOk : Fail(status);
}

}  // namespace weir::cli
