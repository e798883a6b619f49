// Which folder may include which:
//
//   lua <- backends/redis -> core <- backends/memory
//   bench, tests, tools, docs: on top, included by nobody
//
// and public headers include only public headers.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Public header, as users name it ("weir/limiter.h") -> where it lies.
using PublicHeaders = std::map<std::string, std::string>;

bool StartsWith(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

const std::vector<std::string>& Layers() {
  static const auto* const layers = new std::vector<std::string>{
      "backends/memory", "backends/redis", "bench", "core", "docs", "lua",
      "tests",           "tools"};
  return *layers;
}

// The layer that a path from the root lies in; empty if in none.
std::string LayerOf(const std::string& path) {
  for (const std::string& layer : Layers()) {
    if (StartsWith(path, layer + "/")) return layer;
  }
  return "";
}

// What a layer may include from, itself aside.
std::set<std::string> Below(const std::string& layer) {
  if (layer == "core" || layer == "lua") return {};
  if (layer == "backends/memory") return {"core"};
  if (layer == "backends/redis") return {"core", "lua"};
  return {"core", "backends/memory", "backends/redis", "lua"};
}

bool IsPublic(const std::string& path) {
  return path.find("/include/") != std::string::npos;
}

// The kit and the reader of limits.json are libraries that are handed out, so
// whatever is on top may use them.
bool IsHandedOut(const std::string& include) {
  return StartsWith(include, "weir/testing/") ||
         include == "weir/limits_json.h";
}

struct Include {
  std::string what;
  bool angled;
};

std::vector<Include> IncludesOf(const std::string& text) {
  std::vector<Include> includes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos || line[at] != '#') continue;
    at = line.find_first_not_of(" \t", at + 1);
    if (at == std::string::npos || line.compare(at, 7, "include") != 0) {
      continue;
    }
    at = line.find_first_of("<\"", at);
    if (at == std::string::npos) continue;
    const bool angled = line[at] == '<';
    const size_t end = line.find(angled ? '>' : '"', at + 1);
    if (end == std::string::npos) continue;
    includes.push_back({line.substr(at + 1, end - at - 1), angled});
  }
  return includes;
}

// Nothing of ours, and not one of the libraries below us.
std::string CheckForeign(const std::string& layer, bool is_public,
                         const Include& include) {
  const bool library = layer == "core" || layer == "backends/memory" ||
                       layer == "backends/redis";
  if (!library) return "";
  for (const char* client : {"hiredis", "openssl"}) {
    if (!StartsWith(include.what, client)) continue;
    if (is_public) return std::string(client) + " in a public header";
    if (layer == "backends/redis") return "";
    return std::string(client) + " outside backends/redis";
  }
  if (StartsWith(include.what, "absl/") && !include.angled) return "";
  const bool standard =
      include.angled && include.what.find_first_of("./") == std::string::npos;
  if (standard) return "";
  if (is_public || !include.angled) {
    return "neither the standard library, Abseil, nor weir's own";
  }
  // What is asked of the system: addresses and the processor's clock; pages,
  // its turn, naps, and its wide comparisons; sockets.
  static const std::set<std::pair<std::string, std::string>> kSystem = {
      {"core", "arpa/inet.h"},        {"core", "cpuid.h"},
      {"core", "x86intrin.h"},        {"backends/memory", "emmintrin.h"},
      {"backends/memory", "sched.h"}, {"backends/memory", "sys/mman.h"},
      {"backends/memory", "time.h"}};
  if (layer == "backends/redis") return "";
  if (kSystem.count({layer, include.what}) > 0) return "";
  return "neither the standard library, Abseil, nor weir's own";
}

std::string CheckInclude(const std::string& path, const Include& include,
                         const PublicHeaders& headers) {
  const std::string layer = LayerOf(path);
  const bool is_public = IsPublic(path);
  std::string target = include.what;
  if (StartsWith(include.what, "weir/")) {
    const auto found = headers.find(include.what);
    if (found == headers.end()) return "no such public header";
    target = found->second;
  } else if (include.what == "engine_list.h" ||
             include.what == "engine_scripts.h" ||
             StartsWith(include.what, "generated/")) {
    target = "core/generated/" + include.what;
  }
  const std::string target_layer = LayerOf(target);
  if (target_layer.empty()) return CheckForeign(layer, is_public, include);
  if (is_public && !IsPublic(target)) {
    return "a public header includes a private one";
  }
  if (target_layer == layer || Below(layer).count(target_layer) > 0) return "";
  if (IsHandedOut(include.what) && Below(layer).count("core") > 0 &&
      !StartsWith(layer, "backends/")) {
    return "";
  }
  return "wrong arrow: " + layer + " -> " + target_layer;
}

// One line for each include that should not be.
std::vector<std::string> CheckFile(const std::string& path,
                                   const std::string& text,
                                   const PublicHeaders& headers) {
  std::vector<std::string> faults;
  for (const Include& include : IncludesOf(text)) {
    const std::string fault = CheckInclude(path, include, headers);
    if (!fault.empty()) {
      faults.push_back(path + ": " + include.what + ": " + fault);
    }
  }
  return faults;
}

namespace fs = std::filesystem;

// Every C++ file of the layers, as a path from the root, with its text.
std::map<std::string, std::string> ReadTree(const fs::path& root) {
  std::map<std::string, std::string> files;
  for (const std::string& layer : Layers()) {
    if (!fs::exists(root / layer)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / layer)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".h" && ending != ".cc") continue;
      std::ifstream in(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      files[fs::relative(entry.path(), root).generic_string()] = text.str();
    }
  }
  return files;
}

PublicHeaders PublicHeadersOf(const std::map<std::string, std::string>& files) {
  PublicHeaders headers;
  for (const auto& file : files) {
    const size_t at = file.first.find("/include/weir/");
    if (at != std::string::npos) {
      headers[file.first.substr(at + 9)] = file.first;
    }
  }
  return headers;
}

TEST(Layering, EveryIncludePointsTheRightWay) {
  const auto files = ReadTree(WEIR_SOURCE_DIR);
  const PublicHeaders headers = PublicHeadersOf(files);
  ASSERT_GT(headers.size(), 5u) << "is this the root of the source?";
  for (const auto& [path, text] : files) {
    EXPECT_THAT(CheckFile(path, text, headers), IsEmpty());
  }
}

TEST(Layering, EveryFileBelongsToALayer) {
  for (const auto& entry : fs::directory_iterator(fs::path(WEIR_SOURCE_DIR))) {
    const std::string ending = entry.path().extension().string();
    EXPECT_TRUE(ending != ".h" && ending != ".cc") << entry.path();
  }
}

// The check itself, on files that are made up.
class LayeringCheck : public ::testing::Test {
 protected:
  std::vector<std::string> Check(const std::string& path,
                                 const std::string& text) {
    return CheckFile(path, text, headers_);
  }

  const PublicHeaders headers_ = {
      {"weir/limiter.h", "core/include/weir/limiter.h"},
      {"weir/memory_store.h", "backends/memory/include/weir/memory_store.h"},
      {"weir/redis_store.h", "backends/redis/include/weir/redis_store.h"},
      {"weir/testing/random.h", "tests/kit/include/weir/testing/random.h"}};
};

TEST_F(LayeringCheck, CatchesEveryWrongArrow) {
  struct Arrow {
    std::string from;
    std::string include;
  };
  const std::vector<Arrow> wrong = {
      {"core/limiter.cc", "backends/memory/table.h"},
      {"core/limiter.cc", "weir/memory_store.h"},
      {"core/limiter.cc", "weir/redis_store.h"},
      {"core/limiter.cc", "lua/scripts.h"},
      {"core/limiter.cc", "tests/kit/driver.h"},
      {"core/limiter.cc", "weir/testing/random.h"},
      {"core/engines/gcra.h", "tools/cli/human.h"},
      {"backends/memory/table.h", "backends/redis/pool.h"},
      {"backends/memory/table.h", "weir/redis_store.h"},
      {"backends/memory/table.h", "lua/scripts.h"},
      {"backends/memory/table.h", "weir/testing/random.h"},
      {"backends/redis/pool.cc", "backends/memory/table.h"},
      {"backends/redis/pool.cc", "weir/memory_store.h"},
      {"backends/redis/pool.cc", "bench/bench.h"},
      {"tools/cli/main.cc", "tests/kit/driver.h"},
      {"tests/limit_test.cc", "tools/cli/human.h"},
      {"bench/bench.cc", "docs/examples/example.h"},
      {"docs/examples/example.cc", "tests/kit/driver.h"},
  };
  for (const Arrow& arrow : wrong) {
    const auto faults =
        Check(arrow.from, "#include \"" + arrow.include + "\"\n");
    EXPECT_THAT(faults, SizeIs(1)) << arrow.from << " -> " << arrow.include;
    EXPECT_THAT(faults, Contains(HasSubstr("wrong arrow")));
  }
}

TEST_F(LayeringCheck, CatchesAPrivateHeaderInAPublicOne) {
  const std::string path = "core/include/weir/limiter.h";
  EXPECT_THAT(Check(path, "#include \"core/text.h\"\n"),
              Contains(HasSubstr("private")));
  EXPECT_THAT(Check(path, "#include \"weir/limiter.h\"\n"), IsEmpty());
  EXPECT_THAT(Check("backends/redis/include/weir/redis_store.h",
                    "#include <hiredis/hiredis.h>\n"),
              Contains(HasSubstr("public")));
}

TEST_F(LayeringCheck, CatchesStrangersInTheLibrary) {
  for (const char* line :
       {"#include <hiredis/hiredis.h>", "#include <openssl/ssl.h>",
        "#include <nlohmann/json.hpp>", "#include \"gtest/gtest.h\"",
        "#include <zlib.h>", "#include \"weir/nothing.h\"",
        "  #  include <sys/socket.h>"}) {
    EXPECT_THAT(Check("core/limiter.cc", line), SizeIs(1)) << line;
    EXPECT_THAT(Check("backends/memory/table.h", line), SizeIs(1)) << line;
  }
}

TEST_F(LayeringCheck, AllowsWhatPointsDown) {
  EXPECT_THAT(Check("core/limiter.cc",
                    "#include \"weir/limiter.h\"\n#include <vector>\n"
                    "#include \"core/text.h\"\n#include \"engine_list.h\"\n"
                    "#include \"absl/strings/str_cat.h\"\n"
                    "// #include \"tools/cli/human.h\"\n"),
              IsEmpty());
  EXPECT_THAT(Check("backends/memory/memory_store.cc",
                    "#include \"weir/memory_store.h\"\n"
                    "#include \"core/text.h\"\n#include \"weir/limiter.h\"\n"),
              IsEmpty());
  EXPECT_THAT(Check("backends/redis/pool.cc",
                    "#include <hiredis/hiredis.h>\n#include <sys/socket.h>\n"
                    "#include \"lua/scripts.h\"\n"),
              IsEmpty());
  EXPECT_THAT(Check("tools/cli/source_test.cc",
                    "#include \"weir/testing/random.h\"\n"
                    "#include \"weir/memory_store.h\"\n#include <zlib.h>\n"),
              IsEmpty());
}

}  // namespace
}  // namespace weir
