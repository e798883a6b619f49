// Every limits.json that the documentation shows is one, and
// docs/algorithms.md tells of every algorithm.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/limits_json/limits_file.h"
#include "weir/registry.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> Pages() {
  const fs::path root = WEIR_SOURCE_DIR;
  std::vector<fs::path> pages = {root / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  return pages;
}

// The blocks of JSON that hold rules.
std::vector<std::string> Snippets(const std::string& page) {
  constexpr std::string_view kOpen = "```json\n";
  std::vector<std::string> snippets;
  size_t at = 0;
  while ((at = page.find(kOpen, at)) != std::string::npos) {
    at += kOpen.size();
    const size_t end = page.find("```", at);
    std::string text = page.substr(at, end - at);
    at = end;
    const bool is_decision = text.find("\"allowed\"") != std::string::npos;
    if (is_decision || text.find("\"rules\"") == std::string::npos) continue;
    snippets.push_back(std::move(text));
  }
  return snippets;
}

TEST(Docs, ShowOnlyLimitsThatAreRead) {
  size_t count = 0;
  for (const fs::path& page : Pages()) {
    for (const std::string& snippet : Snippets(ReadText(page))) {
      ++count;
      const auto limits = ParseLimits(snippet, page.filename().string(),
                                      Registry::BuiltIn(), TimeFromMicros(0));
      EXPECT_TRUE(limits.ok()) << limits.status() << "\n" << snippet;
    }
  }
  EXPECT_GT(count, 20u) << "are the pages there?";
}

struct Told {
  std::string name;
  std::vector<std::string> parameters;
};

std::vector<Told> Algorithms() {
  std::vector<Told> told = {{"unlimited", {}}};
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    Told one = {std::string(engine->name), {}};
    for (const Field& field : engine->fields) {
      one.parameters.emplace_back(field.name);
    }
    told.push_back(one);
  }
  return told;
}

TEST(Docs, TellOfEveryAlgorithmAndParameter) {
  const fs::path docs = fs::path(WEIR_SOURCE_DIR) / "docs";
  const std::string page = ReadText(docs / "algorithms.md");
  const std::string table = page.substr(0, page.find("## The pictures"));
  for (const Told& told : Algorithms()) {
    EXPECT_THAT(table, HasSubstr("| `" + told.name + "` |"));
    const size_t start = page.find("\n## " + told.name + "\n");
    ASSERT_NE(start, std::string::npos) << told.name;
    const std::string section =
        page.substr(start, page.find("\n## ", start + 1) - start);
    for (const std::string& parameter : told.parameters) {
      EXPECT_THAT(section, HasSubstr("`" + parameter + "`")) << told.name;
    }
    EXPECT_THAT(section, HasSubstr("\"algorithm\": \"" + told.name + "\""));
    const std::string picture = "pictures/" + told.name + ".svg";
    EXPECT_THAT(section, HasSubstr("(" + picture + ")"));
    EXPECT_TRUE(fs::exists(docs / picture)) << picture;
  }
}

}  // namespace
}  // namespace weir::cli
