// Runs a replay over a FakeSource, in tests.
#ifndef WEIR_TOOLS_CLI_REPLAY_FIXTURE_H_
#define WEIR_TOOLS_CLI_REPLAY_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cli/fake_source.h"
#include "tools/cli/replay.h"
#include "tools/cli/report.h"
#include "tools/cli/run_setup.h"
#include "tools/limits_json/limits_file.h"
#include "weir/limiter.h"

namespace weir::cli {

struct ReplayFixture {
  explicit ReplayFixture(std::string_view text) {
    auto parsed = ParseLimits(text, "limits.json", Registry::BuiltIn(),
                              TimeFromMicros(0));
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    limits = std::make_unique<LimitsFile>(*std::move(parsed));
    report = std::make_unique<Report>(*limits);
  }

  absl::Status Run(RowSource* source, bool strict = false) {
    LimiterOptions options;
    options.trust_tags = true;
    auto limiter = Limiter::Create(*EmbeddedStore(), limits->rules, options);
    EXPECT_TRUE(limiter.ok()) << limiter.status();
    ReplayParts parts;
    parts.source = source;
    parts.limiter = &*limiter;
    parts.limits = limits.get();
    parts.limits_name = "limits.json";
    parts.report = report.get();
    parts.strict = strict;
    parts.on_malformed = [&](const std::string& file, uint64_t line,
                             std::string_view reason) {
      malformed.push_back(
          absl::StrCat(file, ":", line, ": ", std::string(reason)));
    };
    return Replay(std::move(parts)).Run();
  }

  std::unique_ptr<LimitsFile> limits;
  std::unique_ptr<Report> report;
  std::vector<std::string> malformed;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPLAY_FIXTURE_H_
