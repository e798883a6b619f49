#include "tools/cli/input/test_trace.h"

#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "core/text.h"
#include "gtest/gtest.h"

namespace weir::cli {

TempFolder::TempFolder() {
  path_ = ::testing::TempDir() + "weir-input-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no folder " << path_;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::Write(const std::string& name,
                              std::string_view content) const {
  const std::string path = path_ + "/" + name;
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  return path;
}

bool Seen::operator==(const Seen& o) const {
  return event == o.event && file == o.file && line == o.line &&
         time_us == o.time_us && cost == o.cost && op == o.op &&
         fields == o.fields && reason == o.reason;
}

std::ostream& operator<<(std::ostream& os, const Seen& seen) {
  return os << seen.file << ": " << Short({seen})[0];
}

std::vector<Seen> ReadAll(RowSource* source) {
  std::vector<Seen> all;
  Row row;
  for (;;) {
    Seen seen;
    seen.event = source->Next(&row);
    switch (seen.event) {
      case Event::kFile:
        seen.file = row.file;
        EXPECT_FALSE(source->columns(row.file).names().empty());
        break;
      case Event::kRow:
        EXPECT_EQ(row.fields.size(), source->columns(row.file).names().size());
        EXPECT_LE(row.time_us, kMaxTraceNumber);
        EXPECT_GE(row.time_us, -kMaxTraceNumber);
        EXPECT_LE(row.cost, kMaxTraceNumber);
        EXPECT_GE(row.cost, 0);
        seen.file = row.file;
        seen.line = row.line;
        seen.time_us = row.time_us;
        seen.cost = row.cost;
        seen.op = row.op;
        seen.fields.assign(row.fields.begin(), row.fields.end());
        break;
      case Event::kMalformed:
        seen.file = source->malformed().file;
        seen.line = source->malformed().line;
        seen.reason = source->malformed().reason;
        EXPECT_FALSE(seen.reason.empty());
        EXPECT_LT(seen.reason.size(), 400u);
        for (const char c : seen.reason) EXPECT_TRUE(c >= ' ' && c <= '~');
        break;
      case Event::kEnd:
        EXPECT_TRUE(source->status().ok());
        break;
      case Event::kError:
        EXPECT_FALSE(source->status().ok());
        seen.reason = source->status().ToString();
        break;
    }
    all.push_back(seen);
    if (seen.event == Event::kEnd || seen.event == Event::kError) {
      EXPECT_EQ(source->Next(&row), seen.event) << "the end does not last";
      return all;
    }
  }
}

std::vector<Seen> ReadText(std::string_view content) {
  const TempFolder folder;
  const std::string path = folder.Write("trace", content);
  auto reader = TraceReader::Open({path});
  if (!reader.ok()) {
    ADD_FAILURE() << reader.status().ToString();
    return {};
  }
  std::vector<Seen> seen = ReadAll(reader->get());
  for (Seen& one : seen) {
    // The folder has another name each time.
    const size_t at = one.reason.find(path);
    if (at != std::string::npos) one.reason.replace(at, path.size(), "trace");
  }
  return seen;
}

std::vector<std::string> Short(const std::vector<Seen>& seen) {
  static constexpr const char* kOps[] = {"check", "peek", "refund", "reset"};
  std::vector<std::string> texts;
  for (const Seen& one : seen) {
    std::string text;
    switch (one.event) {
      case Event::kFile:
        text = "file";
        break;
      case Event::kRow:
        absl::StrAppend(&text, "row ", one.line, " ", one.time_us, " ",
                        one.cost, " ", kOps[static_cast<int>(one.op)], " ");
        for (size_t i = 0; i < one.fields.size(); ++i) {
          absl::StrAppend(&text, i == 0 ? "" : "|", one.fields[i]);
        }
        break;
      case Event::kMalformed:
        absl::StrAppend(&text, "malformed ", one.line, " ", one.reason);
        break;
      case Event::kEnd:
        text = "end";
        break;
      case Event::kError:
        absl::StrAppend(&text, "error ", one.reason);
        break;
    }
    texts.push_back(text);
  }
  return texts;
}

std::string Gzip(std::string_view content) {
  z_stream z = {};
  deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8,
               Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, static_cast<uLong>(content.size())), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  z.avail_in = static_cast<uInt>(content.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

std::optional<std::string> RealData(const std::string& name) {
  const char* folder = std::getenv("WEIR_TEST_DATA");
  const std::string path =
      (folder != nullptr ? std::string(folder)
                         : std::string(WEIR_SOURCE_DIR "/../shared/data")) +
      "/" + name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

}  // namespace weir::cli
