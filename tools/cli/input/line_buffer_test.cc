#include "tools/cli/input/line_buffer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weir/testing/random.h"

namespace weir::cli {
namespace {

using Found = LineBuffer::Found;

// Gives a text in pieces that end at the given places (in ascending order, as
// far as they are in the text), then the end or an error.
class PieceStream final : public ByteStream {
 public:
  PieceStream(std::string text, std::vector<size_t> ends, bool fails = false)
      : text_(std::move(text)), ends_(std::move(ends)), fails_(fails) {
    while (!ends_.empty() && ends_.back() > text_.size()) ends_.pop_back();
    ends_.push_back(text_.size());
  }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    while (piece_ < ends_.size() && at_ >= ends_[piece_]) ++piece_;
    if (piece_ == ends_.size()) {
      if (fails_) return absl::DataLossError("broken");
      return 0;
    }
    const size_t n = std::min(size, ends_[piece_] - at_);
    std::copy_n(text_.data() + at_, n, out);
    at_ += n;
    return n;
  }
  int64_t raw_bytes() const override { return static_cast<int64_t>(at_); }

 private:
  const std::string text_;
  std::vector<size_t> ends_;
  const bool fails_;
  size_t at_ = 0;
  size_t piece_ = 0;
};

// All lines; one that is too long is "!".
std::vector<std::string> Lines(PieceStream* stream) {
  LineBuffer buffer(stream);
  std::vector<std::string> lines;
  for (;;) {
    size_t size = 0;
    size_t next = 0;
    switch (buffer.Find(0, &size, &next)) {
      case Found::kLine:
        lines.emplace_back(buffer.data(), size);
        buffer.Consume(next);
        break;
      case Found::kTooLong:
        lines.push_back("!");
        EXPECT_TRUE(buffer.SkipLine().ok());
        break;
      case Found::kEnd:
        return lines;
      case Found::kError:
        lines.push_back("?");
        return lines;
    }
  }
}

// By the description, not in place.
std::vector<std::string> Expected(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t lf = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, lf - at);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.size() > LineBuffer::kMaxLine) line = "!";
    lines.push_back(line);
    at = lf + 1;
  }
  return lines;
}

TEST(LineBufferTest, LinesAtTheLimitDoNotDependOnThePieces) {
  const size_t kMost = LineBuffer::kMaxLine;
  for (const size_t size : {kMost - 1, kMost, kMost + 1, kMost + 2}) {
    for (const char* end : {"\n", "\r\n", "\r", ""}) {
      const std::string text =
          "a\n" + std::string(size, 'x') + end + (*end == '\0' ? "" : "b\n");
      for (size_t cut = kMost; cut < kMost + 7; ++cut) {
        PieceStream stream(text, {cut});
        // Not ASSERT_EQ: the lines would fill the screen.
        ASSERT_TRUE(Lines(&stream) == Expected(text)) << size << " " << cut;
      }
    }
  }
}

TEST(LineBufferTest, RandomTextInRandomPieces) {
  testing::Rng rng = testing::TestRng();
  for (int round = testing::Rounds(300, 20000); round > 0; --round) {
    std::string text;
    for (int64_t n = rng.Uniform(0, 20); n > 0; --n) {
      text.append(static_cast<size_t>(rng.LogUniform(1, 1 << 19)), 'x');
      text += rng.OneIn(3) ? "\r\n" : rng.OneIn(4) ? "\r" : "\n";
    }
    std::vector<size_t> ends;
    for (int64_t n = rng.Uniform(0, 50); n > 0; --n) {
      ends.push_back(static_cast<size_t>(
          rng.Uniform(0, static_cast<int64_t>(text.size()))));
    }
    std::sort(ends.begin(), ends.end());
    PieceStream stream(text, ends);
    ASSERT_TRUE(Lines(&stream) == Expected(text));
  }
}

TEST(LineBufferTest, LineBeforeAnErrorIsALineAndTheRestIsNot) {
  PieceStream stream("a\nb\nc", {}, true);
  EXPECT_EQ(Lines(&stream), (std::vector<std::string>{"a", "b", "?"}));
}

TEST(LineBufferTest, SeveralLinesAreInTheWindowAtOnce) {
  PieceStream stream("a\r\n\nbc", {1, 2, 3, 4, 5});
  LineBuffer buffer(&stream);
  size_t size = 0;
  size_t next = 0;
  ASSERT_EQ(buffer.Find(0, &size, &next), Found::kLine);
  EXPECT_EQ(size, 1u);
  ASSERT_EQ(buffer.Find(next, &size, &next), Found::kLine);
  EXPECT_EQ(size, 0u);
  ASSERT_EQ(buffer.Find(next, &size, &next), Found::kLine);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(next, 6u);
  EXPECT_EQ(buffer.Find(next, &size, &next), Found::kEnd);
  EXPECT_EQ(std::string(buffer.data(), 6), "a\r\n\nbc");
  buffer.Consume(4);
  EXPECT_EQ(buffer.consumed(), 4u);
  ASSERT_EQ(buffer.Find(0, &size, &next), Found::kLine);
  EXPECT_EQ(std::string(buffer.data(), size), "bc");
}

TEST(LineBufferTest, WindowAsAWholeIsBounded) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "0123456789abcde\n";
  PieceStream stream(text, {});
  LineBuffer buffer(&stream);
  size_t offset = 0;
  size_t size = 0;
  size_t next = 0;
  while (buffer.Find(offset, &size, &next) == Found::kLine) offset = next;
  EXPECT_LE(offset, LineBuffer::kMaxLine + 1);
  EXPECT_GT(offset, LineBuffer::kMaxLine - 20);
}

}  // namespace
}  // namespace weir::cli
