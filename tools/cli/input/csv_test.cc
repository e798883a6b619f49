#include "tools/cli/input/csv.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "weir/testing/random.h"

namespace weir::cli {
namespace {

using State = QuotedSplitter::State;
using Strings = std::vector<std::string>;

Strings Plain(const std::string& record) {
  std::vector<std::string_view> views(8);
  const size_t n = SplitPlain(record, views.data(), views.size());
  EXPECT_LE(n, views.size());
  return Strings(views.begin(), views.begin() + static_cast<ptrdiff_t>(n));
}

// Feeds a whole record at once.
std::optional<Strings> Quoted(std::string record, State* state) {
  QuotedSplitter splitter;
  splitter.Reset();
  *state = splitter.Feed(record.data(), record.size());
  if (*state != State::kDone) return std::nullopt;
  const std::vector<std::string_view>& views = splitter.Finish(record.data());
  return Strings(views.begin(), views.end());
}

Strings Quoted(const std::string& record) {
  State state;
  std::optional<Strings> fields = Quoted(record, &state);
  EXPECT_TRUE(fields.has_value()) << record;
  return fields.value_or(Strings{});
}

State StateOf(const std::string& record) {
  State state;
  Quoted(record, &state);
  return state;
}

TEST(CsvTest, PlainRecordsAreSplitAtCommas) {
  EXPECT_EQ(Plain(""), Strings({""}));
  EXPECT_EQ(Plain("a"), Strings({"a"}));
  EXPECT_EQ(Plain("a,b"), Strings({"a", "b"}));
  EXPECT_EQ(Plain(","), Strings({"", ""}));
  EXPECT_EQ(Plain(" a ,, b"), Strings({" a ", "", " b"}));
}

TEST(CsvTest, FieldsBeyondTheRoomAreOnlyCounted) {
  std::vector<std::string_view> views(2);
  EXPECT_EQ(SplitPlain("a,b,c,d", views.data(), 2), 4u);
  EXPECT_EQ(views[1], "b");
  EXPECT_EQ(SplitPlain("a", views.data(), 2), 1u);
}

TEST(CsvTest, QuotesAreRemovedAndPairsHalved) {
  EXPECT_EQ(Quoted("\"a\""), Strings({"a"}));
  EXPECT_EQ(Quoted("\"\""), Strings({""}));
  EXPECT_EQ(Quoted("\"a,b\",c"), Strings({"a,b", "c"}));
  EXPECT_EQ(Quoted("\"a\"\"b\""), Strings({"a\"b"}));
  EXPECT_EQ(Quoted("\"\"\"\""), Strings({"\""}));
  EXPECT_EQ(Quoted("\"\"\"\"\"\""), Strings({"\"\""}));
  EXPECT_EQ(Quoted("x,\"\",\"y\","), Strings({"x", "", "y", ""}));
  EXPECT_EQ(Quoted("\"a\nb\""), Strings({"a\nb"}));
}

TEST(CsvTest, QuoteInsideAnUnquotedFieldIsText) {
  EXPECT_EQ(Quoted("a\"b,c\"\"d"), Strings({"a\"b", "c\"\"d"}));
  EXPECT_EQ(Quoted(" \"a\""), Strings({" \"a\""}));
}

TEST(CsvTest, WrongQuotesAreSeen) {
  EXPECT_EQ(StateOf("\"a"), State::kOpen);
  EXPECT_EQ(StateOf("a,\""), State::kOpen);
  EXPECT_EQ(StateOf("\"a\"\""), State::kOpen);
  EXPECT_EQ(StateOf("\"a\"b"), State::kBadQuote);
  EXPECT_EQ(StateOf("\"a\" ,b"), State::kBadQuote);
}

// A record is fed in pieces that end anywhere between quotes, from another
// place in memory each time.
TEST(CsvTest, RandomRecordsComeBack) {
  testing::Rng rng = testing::TestRng();
  const std::string alphabet = "ab,\"\n\r";
  for (int round = testing::Rounds(5000, 500000); round > 0; --round) {
    Strings fields(static_cast<size_t>(rng.Uniform(1, 5)));
    std::string record;
    for (size_t i = 0; i < fields.size(); ++i) {
      for (int64_t n = rng.Uniform(0, 6); n > 0; --n) {
        fields[i] += alphabet[static_cast<size_t>(rng.Uniform(0, 5))];
      }
      if (i > 0) record += ',';
      record += '"';
      for (const char c : fields[i])
        record += c == '"' ? "\"\"" : std::string(1, c);
      record += '"';
    }
    QuotedSplitter splitter;
    splitter.Reset();
    std::string memory;
    State state = State::kOpen;
    for (size_t end = 1; state == State::kOpen; ++end) {
      ASSERT_LE(end, record.size());
      // Lines end at line ends only, where quotes are not cut in two.
      if (end < record.size() && record[end] != '\n') continue;
      memory = record.substr(0, end);
      state = splitter.Feed(memory.data(), memory.size());
    }
    ASSERT_EQ(state, State::kDone) << record;
    const std::vector<std::string_view>& views = splitter.Finish(memory.data());
    ASSERT_EQ(Strings(views.begin(), views.end()), fields) << record;
  }
}

}  // namespace
}  // namespace weir::cli
