#include "tools/cli/input/sorter.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli/input/test_trace.h"
#include "weir/testing/random.h"

namespace weir::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Plays events back.
class ListSource final : public RowSource {
 public:
  explicit ListSource(std::vector<Seen> events) : events_(std::move(events)) {}

  Event Next(Row* row) override {
    if (next_ == events_.size()) return Event::kEnd;
    const Seen& seen = events_[next_++];
    row->file = seen.file;
    if (seen.event == Event::kMalformed) {
      malformed_ = {seen.file, seen.line, seen.reason};
    } else if (seen.event == Event::kError) {
      --next_;
      status_ = absl::DataLossError("broken");
    } else if (seen.event == Event::kRow) {
      row->line = seen.line;
      row->time_us = seen.time_us;
      row->cost = seen.cost;
      row->op = seen.op;
      views_.assign(seen.fields.begin(), seen.fields.end());
      row->fields = views_;
      columns_ = Columns(std::vector<std::string>(seen.fields.size()));
    }
    return seen.event;
  }
  const Malformed& malformed() const override { return malformed_; }
  const absl::Status& status() const override { return status_; }
  const std::vector<std::string>& files() const override { return files_; }
  const Columns& columns(int) const override { return columns_; }
  Progress progress() const override { return {}; }

 private:
  const std::vector<Seen> events_;
  size_t next_ = 0;
  std::vector<std::string_view> views_;
  Malformed malformed_;
  absl::Status status_;
  std::vector<std::string> files_ = {"a", "b"};
  Columns columns_;
};

Seen RowAt(int64_t time_us, uint64_t line) {
  Seen seen;
  seen.event = Event::kRow;
  seen.time_us = time_us;
  seen.line = line;
  seen.cost = 1;
  seen.fields = {"x"};
  return seen;
}

std::vector<Seen> Sorted(const std::vector<Seen>& events, SortOptions options) {
  auto source =
      SortedSource::Create(std::make_unique<ListSource>(events), options);
  Row row;
  std::vector<Seen> all;
  for (;;) {
    Seen seen;
    seen.event = source->Next(&row);
    if (seen.event == Event::kError) seen.reason = source->status().ToString();
    if (seen.event == Event::kMalformed) {
      seen.file = source->malformed().file;
      seen.line = source->malformed().line;
      seen.reason = source->malformed().reason;
    }
    if (seen.event == Event::kFile) seen.file = row.file;
    if (seen.event == Event::kRow) {
      seen.file = row.file;
      seen.line = row.line;
      seen.time_us = row.time_us;
      seen.cost = row.cost;
      seen.op = row.op;
      seen.fields.assign(row.fields.begin(), row.fields.end());
    }
    if (seen.event == Event::kEnd) return all;
    all.push_back(seen);
    if (seen.event == Event::kError) return all;
  }
}

std::vector<Seen> RandomRows(testing::Rng* rng, int64_t count) {
  std::vector<Seen> rows;
  const int64_t times = rng->LogUniform(1, kMaxTraceNumber);
  for (int64_t i = 0; i < count; ++i) {
    Seen row = RowAt(rng->Uniform(-times, times), static_cast<uint64_t>(i) + 1);
    row.file = static_cast<int>(rng->Uniform(0, 1));
    row.cost = rng->OneIn(2) ? 1 : rng->Uniform(0, kMaxTraceNumber);
    row.op = static_cast<Op>(rng->Uniform(0, 3));
    row.fields.clear();
    for (int64_t f = rng->Uniform(1, 5); f > 0; --f) {
      std::string field(static_cast<size_t>(rng->LogUniform(1, 300)) - 1, '\0');
      for (char& c : field) c = static_cast<char>(rng->Uniform(0, 255));
      row.fields.push_back(std::move(field));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void StableSort(std::vector<Seen>* rows) {
  std::stable_sort(
      rows->begin(), rows->end(),
      [](const Seen& a, const Seen& b) { return a.time_us < b.time_us; });
}

TEST(SorterTest, EqualTimesStayInOrder) {
  EXPECT_EQ(
      Sorted({RowAt(5, 1), RowAt(3, 2), RowAt(5, 3), RowAt(3, 4), RowAt(-1, 5)},
             {}),
      (std::vector<Seen>{RowAt(-1, 5), RowAt(3, 2), RowAt(3, 4), RowAt(5, 1),
                         RowAt(5, 3)}));
  EXPECT_TRUE(Sorted({}, {}).empty());
}

// The budgets make anything from one run in memory to thousands of runs that
// take several passes.
TEST(SorterTest, AgreesWithStableSortAtEveryBudget) {
  testing::Rng rng = testing::TestRng();
  for (int round = testing::Rounds(30, 1000); round > 0; --round) {
    SortOptions options;
    options.memory_bytes = static_cast<size_t>(rng.LogUniform(1, 4 << 20));
    options.fan_in = static_cast<int>(rng.LogUniform(2, 64));
    std::vector<Seen> rows = RandomRows(&rng, rng.LogUniform(1, 3000));
    const std::vector<Seen> sorted = Sorted(rows, options);
    StableSort(&rows);
    ASSERT_EQ(sorted.size(), rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      ASSERT_EQ(sorted[i], rows[i])
          << "at " << i << ", budget " << options.memory_bytes << ", fan-in "
          << options.fan_in;
    }
  }
}

TEST(SorterTest, RowsLargerThanTheBudgetPass) {
  std::vector<Seen> rows;
  for (uint64_t i = 0; i < 20; ++i) {
    rows.push_back(RowAt(static_cast<int64_t>(i * 7 % 20), i + 1));
    rows.back().fields = {std::string(i % 3 == 0 ? 900000 : 3, 'k'),
                          std::string(200, '\n')};
  }
  SortOptions options;
  options.memory_bytes = 2000;
  const std::vector<Seen> sorted = Sorted(rows, options);
  StableSort(&rows);
  EXPECT_EQ(sorted, rows);
}

TEST(SorterTest, OtherEventsComeBeforeTheRows) {
  Seen file;
  file.event = Event::kFile;
  file.file = 1;
  Seen malformed;
  malformed.event = Event::kMalformed;
  malformed.line = 7;
  malformed.reason = "why";
  for (const size_t budget : {size_t{1}, size_t{1} << 20}) {
    SortOptions options;
    options.memory_bytes = budget;
    EXPECT_EQ(Sorted({RowAt(5, 1), file, RowAt(3, 2), malformed, RowAt(4, 3)},
                     options),
              (std::vector<Seen>{file, malformed, RowAt(3, 2), RowAt(4, 3),
                                 RowAt(5, 1)}));
  }
}

TEST(SorterTest, ErrorOfTheInputIsPassedOn) {
  Seen error;
  error.event = Event::kError;
  const std::vector<Seen> seen = Sorted({RowAt(1, 1), error}, {});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].reason, "DATA_LOSS: broken");
}

TEST(SorterTest, EndAndErrorLast) {
  auto source = SortedSource::Create(
      std::make_unique<ListSource>(std::vector<Seen>{RowAt(1, 1)}));
  Row row;
  EXPECT_EQ(source->Next(&row), Event::kRow);
  EXPECT_EQ(source->Next(&row), Event::kEnd);
  EXPECT_EQ(source->Next(&row), Event::kEnd);
  SortOptions options;
  options.memory_bytes = 1;
  options.temp_dir = "/nowhere/at/all";
  source = SortedSource::Create(std::make_unique<ListSource>(std::vector<Seen>{
                                    RowAt(1, 1), RowAt(1, 2), RowAt(1, 3)}),
                                options);
  EXPECT_EQ(source->Next(&row), Event::kError);
  EXPECT_EQ(source->Next(&row), Event::kError);
}

TEST(SorterTest, FolderThatIsNotThereIsNamed) {
  SortOptions options;
  options.memory_bytes = 1;
  options.temp_dir = "/nowhere/at/all";
  EXPECT_THAT(Sorted({RowAt(1, 1), RowAt(1, 2)}, options).back().reason,
              HasSubstr("NOT_FOUND: /nowhere/at/all: cannot make a temporary "
                        "file for sorting"));
}

TEST(SorterTest, NoFileIsMadeForWhatFitsInMemory) {
  SortOptions options;
  options.temp_dir = "/nowhere/at/all";
  EXPECT_EQ(Sorted({RowAt(2, 1), RowAt(1, 2)}, options),
            (std::vector<Seen>{RowAt(1, 2), RowAt(2, 1)}));
}

TEST(SorterTest, TemporaryFileHasNoName) {
  const TempFolder folder;
  SortOptions options;
  options.memory_bytes = 1;
  options.temp_dir = folder.path();
  auto source =
      SortedSource::Create(std::make_unique<ListSource>(std::vector<Seen>{
                               RowAt(3, 1), RowAt(2, 2), RowAt(1, 3)}),
                           options);
  Row row;
  EXPECT_EQ(source->Next(&row), Event::kRow);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Exits with 7 if sorting says clearly that its file cannot grow.
[[noreturn]] void SortWithoutRoom() {
  signal(SIGXFSZ, SIG_IGN);
  rlimit limit = {};
  limit.rlim_cur = limit.rlim_max = 300000;
  setrlimit(RLIMIT_FSIZE, &limit);
  testing::Rng rng(1);
  SortOptions options;
  options.memory_bytes = 10000;
  const std::vector<Seen> seen = Sorted(RandomRows(&rng, 10000), options);
  const bool clear =
      seen.size() == 1 &&
      seen[0].reason.find("cannot write the temporary") != std::string::npos;
  std::exit(clear ? 7 : 1);
}

// A limit on the size of files stands in for a full disk.
TEST(SorterDeathTest, FileThatCannotGrowIsAnError) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(SortWithoutRoom(), ::testing::ExitedWithCode(7), "");
}

TEST(SorterTest, SortsFilesTogetherAndKeepsTheirNumbers) {
  const TempFolder folder;
  auto reader = TraceReader::Open({folder.Write("a", "time,k\n5,a\n1,b\nx,c\n"),
                                   folder.Write("b", "time_us\n3000000\n")});
  ASSERT_TRUE(reader.ok());
  auto sorted = SortedSource::Create(*std::move(reader));
  const std::vector<Seen> seen = ReadAll(sorted.get());
  EXPECT_THAT(Short(seen), ElementsAre("file", HasSubstr("malformed 4"), "file",
                                       "row 3 1000000 1 check 1|b",
                                       "row 2 3000000 1 check 3000000",
                                       "row 2 5000000 1 check 5|a", "end"));
  EXPECT_EQ(seen[4].file, 1);
  EXPECT_EQ(sorted->files().size(), 2u);
  EXPECT_EQ(sorted->progress().lines, 6u);
}

}  // namespace
}  // namespace weir::cli
