#include "weir/limits_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "weir/memory_store.h"

namespace weir {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPair[] = R"({"tag": "{host}", "rules": [
    {"name": "resource", "algorithm": "fixed_window", "limit": 5,
     "window": "10s", "key": "{host}"},
    {"name": "consumer", "algorithm": "fixed_window", "limit": 3,
     "window": "10s", "key": "{host}/{client}"}]})";

LimitsJson::Column Columns(const std::map<std::string, std::string>& columns) {
  return [&columns](std::string_view name) -> std::optional<std::string_view> {
    const auto found = columns.find(std::string(name));
    if (found == columns.end()) return std::nullopt;
    return found->second;
  };
}

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(LimitsJson, MakesALimiterAndItsKeys) {
  const auto limits = LimitsJson::Parse(kPair);
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_EQ(limits->key(1), "{host}/{client}");
  EXPECT_EQ(limits->tag(), "{host}");
  const auto limiter = Limiter::Create(*MemoryStore::Create(), limits->rules());
  ASSERT_TRUE(limiter.ok()) << limiter.status();
  CallKeys made;
  const std::map<std::string, std::string> columns = {{"host", "h"},
                                                      {"client", "alice"}};
  ASSERT_TRUE(limits->MakeKeys(Columns(columns), &made).ok());
  EXPECT_THAT(made.keys, ElementsAre("h", "h/alice"));
  EXPECT_EQ(made.tag, "h");
  const std::vector<std::string_view> keys(made.keys.begin(), made.keys.end());
  Call call;
  call.keys = keys;
  call.tag = made.tag;
  const auto decision = limiter->Check(call);
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ(decision->remaining, 2);
}

TEST(LimitsJson, ItsTagNeedNotBeginTheKeysThatAreTrusted) {
  const auto limits = LimitsJson::Parse(R"({"tag": "{host}", "rules": [
      {"name": "consumer", "algorithm": "fixed_window", "limit": 3,
       "window": "10s", "key": "{client}@{host}"},
      {"name": "resource", "algorithm": "fixed_window", "limit": 5,
       "window": "10s", "key": "{host}"}]})");
  ASSERT_TRUE(limits.ok()) << limits.status();
  CallKeys made;
  const std::map<std::string, std::string> columns = {{"host", "h"},
                                                      {"client", "alice"}};
  ASSERT_TRUE(limits->MakeKeys(Columns(columns), &made).ok());
  EXPECT_THAT(made.keys, ElementsAre("alice@h", "h"));
  const std::vector<std::string_view> keys(made.keys.begin(), made.keys.end());
  Call call;
  call.keys = keys;
  call.tag = made.tag;
  LimiterOptions options;
  options.trust_tags = true;
  const auto trusting =
      Limiter::Create(*MemoryStore::Create(), limits->rules(), options);
  ASSERT_TRUE(trusting.ok()) << trusting.status();
  const auto decision = trusting->Check(call);
  ASSERT_TRUE(decision.ok()) << decision.status();
  EXPECT_EQ(decision->remaining, 2);
  const auto asking = Limiter::Create(*MemoryStore::Create(), limits->rules());
  EXPECT_THAT(Message(asking->Check(call).status()),
              HasSubstr("does not begin with the call's tag"));
}

TEST(LimitsJson, NamesTheColumnThatIsMissing) {
  const auto limits = LimitsJson::Parse(kPair);
  CallKeys made;
  const std::map<std::string, std::string> columns = {{"host", "h"}};
  EXPECT_EQ(Message(limits->MakeKeys(Columns(columns), &made)),
            "\"{host}/{client}\": there is no {client}");
  EXPECT_EQ(Message(limits->MakeKeys(nullptr, &made)),
            "column: is empty; allowed: a function that gives each column");
}

TEST(LimitsJson, ReplacesLimitsWhileLive) {
  const auto text = [](const char* limit) {
    return std::string(
               R"({"rules": [{"algorithm": "fixed_window", "limit": )") +
           limit + R"(, "window": "1h"}]})";
  };
  auto limits = LimitsJson::Parse(text("3"));
  EXPECT_FALSE(limits->tag().has_value());
  auto limiter = Limiter::Create(*MemoryStore::Create(), limits->rules());
  ASSERT_TRUE(limiter.ok());
  ASSERT_TRUE(limiter->Check("a", 2)->allowed);
  limits = LimitsJson::Parse(text("10"));
  ASSERT_TRUE(limiter->Update(limits->rules()).ok());
  EXPECT_EQ(limiter->Peek("a")->remaining, 8);
}

TEST(LimitsJson, SaysWhatIsWrongUnderItsName) {
  LimitsJsonOptions options;
  options.name = "flag";
  EXPECT_THAT(Message(LimitsJson::Parse("[]", options).status()),
              StartsWith("flag: is an array"));
  EXPECT_THAT(Message(LimitsJson::Parse("{").status()),
              StartsWith("limits.json: line 1, column 2"));
}

TEST(LimitsJson, LooksAlgorithmsUpWhereItIsTold) {
  Registry registry = Registry::BuiltIn();
  EngineInfo mine = *registry.Find("uniform");
  mine.name = "mine";
  ASSERT_TRUE(registry.Add(mine).ok());
  constexpr char kMine[] =
      R"({"rules": [{"algorithm": "mine", "interval": "1s"}]})";
  EXPECT_THAT(Message(LimitsJson::Parse(kMine).status()), HasSubstr("unknown"));
  LimitsJsonOptions options;
  options.registry = &registry;
  EXPECT_TRUE(LimitsJson::Parse(kMine, options).ok());
}

TEST(LimitsJson, KnowsTheTimeItIsGiven) {
  LimitsJsonOptions options;
  options.now = TimeFromMicros(kMaxExact - 1'000'000);
  constexpr char kMinute[] =
      R"({"rules": [{"algorithm": "uniform", "interval": "1m"}]})";
  EXPECT_THAT(Message(LimitsJson::Parse(kMinute, options).status()),
              HasSubstr("2255"));
  EXPECT_TRUE(LimitsJson::Parse(kMinute).ok());
}

TEST(LimitsJson, ReadsAFile) {
  const std::string path = ::testing::TempDir() + "weir_limits_json_test.json";
  std::ofstream(path) << kPair;
  const auto limits = LimitsJson::Read(path);
  ASSERT_TRUE(limits.ok()) << limits.status();
  EXPECT_EQ(limits->rules()[0].name, "resource");
  std::remove(path.c_str());
  EXPECT_TRUE(absl::IsNotFound(LimitsJson::Read(path).status()));
}

}  // namespace
}  // namespace weir
