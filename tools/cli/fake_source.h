// A RowSource for tests: yields what it was told to.
#ifndef WEIR_TOOLS_CLI_FAKE_SOURCE_H_
#define WEIR_TOOLS_CLI_FAKE_SOURCE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/cli/input/row.h"

namespace weir::cli {

class FakeSource final : public RowSource {
 public:
  explicit FakeSource(std::vector<std::string> columns,
                      std::vector<std::string> files = {"fake.csv"})
      : columns_(std::move(columns)), files_(std::move(files)) {}

  void AddRow(int64_t time_us, std::vector<std::string> fields,
              int64_t cost = 1, Op op = Op::kCheck, int file = 0) {
    Item item{Event::kRow, {}, std::move(fields), {}, {}};
    item.row.file = file;
    item.row.line = ++lines_ + 1;
    item.row.time_us = time_us;
    item.row.cost = cost;
    item.row.op = op;
    items_.push_back(std::move(item));
  }
  void AddMalformed(std::string reason) {
    Item item{Event::kMalformed, {}, {}, {}, {}};
    item.malformed = {0, ++lines_ + 1, std::move(reason)};
    items_.push_back(std::move(item));
  }
  void AddError(absl::Status status) {
    items_.push_back({Event::kError, {}, {}, {}, std::move(status)});
  }

  [[nodiscard]] Event Next(Row* row) override {
    if (file_events_ < files_.size()) {
      row->file = static_cast<int>(file_events_++);
      return Event::kFile;
    }
    if (next_ == items_.size()) return Event::kEnd;
    Item& item = items_[next_++];
    if (item.event == Event::kRow) {
      *row = item.row;
      views_.assign(item.fields.begin(), item.fields.end());
      row->fields = views_;
    }
    malformed_ = item.malformed;
    status_ = item.status;
    return item.event;
  }
  const Malformed& malformed() const override { return malformed_; }
  const absl::Status& status() const override { return status_; }
  const std::vector<std::string>& files() const override { return files_; }
  const Columns& columns(int) const override { return columns_; }
  Progress progress() const override { return {lines_ + 1, 0, -1}; }

 private:
  struct Item {
    Event event;
    Row row;
    std::vector<std::string> fields;
    Malformed malformed;
    absl::Status status;
  };

  Columns columns_;
  std::vector<std::string> files_;
  std::vector<Item> items_;
  std::vector<std::string_view> views_;
  uint64_t lines_ = 0;
  size_t file_events_ = 0;
  size_t next_ = 0;
  Malformed malformed_;
  absl::Status status_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_FAKE_SOURCE_H_
