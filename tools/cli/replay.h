// `weir replay`: rows in, decisions and statistics out.
#ifndef WEIR_TOOLS_CLI_REPLAY_H_
#define WEIR_TOOLS_CLI_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tools/cli/decisions.h"
#include "tools/cli/input/row.h"
#include "tools/cli/output_file.h"
#include "tools/cli/report.h"
#include "tools/limits_json/limits_file.h"
#include "weir/limiter.h"

namespace weir::cli {

// Counts rows that come later than one with a greater time. Put between a
// reader and whatever sorts it, it sees the input's own order.
class OrderWatch final : public RowSource {
 public:
  using OnProgress = std::function<void(const Progress&)>;

  // Writes out_of_order and latest_us. Calls on_progress, if there is one, now
  // and then.
  OrderWatch(std::unique_ptr<RowSource> inner, InputCounts* counts,
             OnProgress on_progress = nullptr)
      : inner_(std::move(inner)),
        counts_(counts),
        on_progress_(std::move(on_progress)) {}

  [[nodiscard]] Event Next(Row* row) override;
  const Malformed& malformed() const override { return inner_->malformed(); }
  const absl::Status& status() const override { return inner_->status(); }
  const std::vector<std::string>& files() const override {
    return inner_->files();
  }
  const Columns& columns(int file) const override {
    return inner_->columns(file);
  }
  Progress progress() const override { return inner_->progress(); }

 private:
  std::unique_ptr<RowSource> inner_;
  InputCounts* counts_;
  OnProgress on_progress_;
  uint64_t events_ = 0;
  std::optional<int64_t> greatest_;
};

// Everything that a replay works with; nothing is owned.
struct ReplayParts {
  RowSource* source = nullptr;
  const Limiter* limiter = nullptr;  // made with trust_tags
  const LimitsFile* limits = nullptr;
  std::string limits_name;  // for messages
  Report* report = nullptr;
  OutputFile* decisions = nullptr;  // null: not wanted
  bool strict = false;
  // Called for each malformed line that is skipped.
  std::function<void(const std::string& file, uint64_t line,
                     std::string_view reason)>
      on_malformed;
  // Called now and then.
  std::function<void(const Progress&)> on_progress;
};

class Replay {
 public:
  explicit Replay(ReplayParts parts) : parts_(std::move(parts)) {}

  // Reads the source to its end. Once. Errors: as TraceRun::Run.
  absl::Status Run();

 private:
  ReplayParts parts_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPLAY_H_
