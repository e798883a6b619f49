// The loop of `weir replay`: rows in, decisions and statistics out.
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
#include "tools/cli/key_template.h"
#include "tools/cli/limits_file.h"
#include "tools/cli/output_file.h"
#include "tools/cli/report.h"
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
  // Called for each malformed line.
  std::function<void(const std::string& file, uint64_t line,
                     std::string_view reason)>
      on_malformed;
  // Called now and then.
  std::function<void(const Progress&)> on_progress;
};

class Replay {
 public:
  explicit Replay(ReplayParts parts);

  // Reads the source to its end. FailedPrecondition: a malformed line, and
  // `strict`; it was reported through on_malformed. InvalidArgument: the input
  // and the limits do not fit together, or the input is no trace. Anything
  // else: something could not be read or written.
  absl::Status Run();

 private:
  // Templates bound to the columns of one file. Equal templates share a key.
  struct Bound {
    std::vector<BoundTemplate> keys;
    std::optional<BoundTemplate> tag;
  };

  absl::Status Bind(int file);
  absl::Status Decide(const Row& row);
  absl::Status Bad(int file, uint64_t line, std::string_view reason);

  ReplayParts parts_;
  std::optional<DecisionFormat> format_;
  std::vector<std::optional<Bound>> bound_;  // by file
  // For each rule, which of the different keys it has.
  std::vector<size_t> key_of_rule_;
  std::vector<size_t> first_rule_;  // of each different key
  // Kept between rows for their memory.
  std::vector<std::string> buffers_;
  std::string tag_buffer_;
  std::vector<std::string_view> different_;
  std::vector<std::string_view> keys_;  // one for each rule
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPLAY_H_
