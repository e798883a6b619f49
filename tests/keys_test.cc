#include "weir/keys.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weir/limiter.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

using ::testing::HasSubstr;
using ::weir::testing::Rng;
using ::weir::testing::Rounds;
using ::weir::testing::Seed;
using ::weir::testing::TestRng;
using namespace std::string_literals;

std::string Address(std::string_view text, AddressPrefix prefix = {}) {
  absl::StatusOr<std::string> key = AddressKey(text, prefix);
  return key.ok() ? *key : std::string(key.status().message());
}

TEST(AddressKey, WritesOneKeyForAllSpellings) {
  const std::map<std::string, std::vector<std::string_view>> spellings = {
      {"192.0.2.7",
       {"192.0.2.7", "192.0.2.7:80", "192.0.2.7:65535", "::ffff:192.0.2.7",
        "::FFFF:C000:0207", "0:0:0:0:0:ffff:192.0.2.7", "[::ffff:192.0.2.7]:1",
        "::ffff:192.0.2.7%eth0"}},
      {"2001:db8:1:2::/64",
       {"2001:db8:1:2::", "2001:DB8:1:2::1", "2001:0db8:0001:0002:0:0:0:9",
        "[2001:db8:1:2:ffff::]", "[2001:db8:1:2::1]:443",
        "2001:db8:1:2::1%eth0", "2001:db8:1:2::1:443",
        "2001:db8:1:2::192.0.2.7"}},
      {"fe80::/64", {"fe80::1", "fe80::1%eth0", "[fe80::2%25wlan0]:80"}},
      {"::/64", {"::", "::1", "[::1]:8080", "0:0:0:0:1:2:3:4"}},
  };
  for (const auto& [key, texts] : spellings) {
    for (std::string_view text : texts) EXPECT_EQ(Address(text), key) << text;
  }
}

TEST(AddressKey, CutsAtThePrefix) {
  const std::string_view ip6 = "2001:db8:aaaa:bbcc:dddd:eeee:ffff:1";
  EXPECT_EQ(Address(ip6, {32, 128}), "2001:db8:aaaa:bbcc:dddd:eeee:ffff:1");
  EXPECT_EQ(Address(ip6, {32, 127}), "2001:db8:aaaa:bbcc:dddd:eeee:ffff:0/127");
  EXPECT_EQ(Address(ip6, {32, 64}), "2001:db8:aaaa:bbcc::/64");
  EXPECT_EQ(Address(ip6, {32, 60}), "2001:db8:aaaa:bbc0::/60");
  EXPECT_EQ(Address(ip6, {32, 56}), "2001:db8:aaaa:bb00::/56");
  EXPECT_EQ(Address(ip6, {32, 48}), "2001:db8:aaaa::/48");
  EXPECT_EQ(Address(ip6, {32, 0}), "::/0");
  EXPECT_EQ(Address("192.0.2.255", {32, 0}), "192.0.2.255");
  EXPECT_EQ(Address("192.0.2.255", {31, 0}), "192.0.2.254/31");
  EXPECT_EQ(Address("192.0.2.255", {24, 0}), "192.0.2.0/24");
  EXPECT_EQ(Address("192.0.2.255", {12, 0}), "192.0.0.0/12");
  EXPECT_EQ(Address("192.0.2.255", {0, 0}), "0.0.0.0/0");
  // A mapped address is cut as what it is.
  EXPECT_EQ(Address("::ffff:192.0.2.255", {24, 64}), "192.0.2.0/24");
}

TEST(AddressKey, TellsNeighboursApart) {
  EXPECT_NE(Address("2001:db8:1:2::1"), Address("2001:db8:1:3::1"));
  EXPECT_NE(Address("192.0.2.7"), Address("192.0.2.8"));
  // Not mapped, whatever it looks like.
  EXPECT_EQ(Address("::192.0.2.7", {32, 128}), "::c000:207");
  EXPECT_EQ(Address("::fffe:c000:207", {32, 128}), "::fffe:c000:207");
  EXPECT_EQ(Address("1::ffff:c000:207", {32, 128}), "1::ffff:c000:207");
}

TEST(AddressKey, ShortensAsRfc5952Says) {
  const AddressPrefix whole = {32, 128};
  EXPECT_EQ(Address("2001:db8:0:1:1:1:1:1", whole), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(Address("2001:0:0:1:0:0:0:1", whole), "2001:0:0:1::1");
  EXPECT_EQ(Address("2001:db8:0:0:1:0:0:1", whole), "2001:db8::1:0:0:1");
  EXPECT_EQ(Address("0:0:1::", whole), "0:0:1::");
  EXPECT_EQ(Address("1:2:3:4:5:6:0:0", whole), "1:2:3:4:5:6::");
  EXPECT_EQ(Address("ABCD::", whole), "abcd::");
}

TEST(AddressKey, RefusesWhatIsNoAddress) {
  for (std::string_view text : {"",
                                " ",
                                "192.0.2.7 ",
                                " ::1",
                                "192.0.2",
                                "192.0.2.256",
                                "192.0.2.07",
                                "192.0.2.7.1",
                                "192.0.2.7:",
                                "192.0.2.7:65536",
                                "192.0.2.7:8o",
                                "192.0.2.7%eth0",
                                "[192.0.2.7]",
                                "[192.0.2.7]:80",
                                "[::1",
                                "::1]",
                                "[::1]80",
                                "[::1]:",
                                "[::1]:-1",
                                "[::1]:123456",
                                "[]",
                                "[]:80",
                                ":80",
                                ":",
                                "::1%",
                                "::1%a]b",
                                "::1%a b",
                                "::12345",
                                ":::",
                                "1::2::3",
                                "1:2:3:4:5:6:7",
                                "1:2:3:4:5:6:7:8:9",
                                "host",
                                "host:80",
                                "unknown",
                                "192.0.2.7/24",
                                "2001:db8::/64",
                                "0x7f.1",
                                "2130706433",
                                "_"}) {
    absl::StatusOr<std::string> key = AddressKey(text);
    ASSERT_FALSE(key.ok()) << text << " gave " << *key;
    EXPECT_EQ(key.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(key.status().message()),
                HasSubstr("address: \"" + std::string(text) + "\""));
  }
  EXPECT_FALSE(AddressKey("192.0.2.7\0"s).ok());
  EXPECT_FALSE(AddressKey("::1\0"s).ok());
  EXPECT_FALSE(AddressKey("\0"s).ok());
}

TEST(AddressKey, ShowsHostileTextHarmlessly) {
  const std::string message =
      Address("\n\x1b[31m\xFF" + std::string(100'000, 'x'));
  EXPECT_THAT(message, HasSubstr("\\n\\x1b[31m\\xffxxx"));
  EXPECT_LT(message.size(), 400u);
}

TEST(AddressKey, RefusesPrefixesOutOfRange) {
  for (AddressPrefix prefix : {AddressPrefix{-1, 64}, AddressPrefix{33, 64},
                               AddressPrefix{32, -1}, AddressPrefix{32, 129}}) {
    // Whatever the address is: a wrong option shows at the first call.
    EXPECT_THAT(Address("192.0.2.7", prefix), HasSubstr("prefix: "));
    EXPECT_THAT(Address("::1", prefix), HasSubstr("allowed: 0 to "));
  }
}

// Against the C library: the key, read back, is the address with its last bits
// cleared, and what inet_ntop writes gives the same key.
TEST(AddressKey, AgreesWithTheCLibraryOnRandomAddresses) {
  Rng rng = TestRng();
  for (int round = 0; round < Rounds(20'000, 1'000'000); ++round) {
    std::array<uint8_t, 16> bytes;
    for (size_t i = 0; i < 16; i += 2) {
      const bool zero = rng.OneIn(2);
      bytes[i] = static_cast<uint8_t>(zero ? 0 : rng.Next());
      bytes[i + 1] = static_cast<uint8_t>(zero ? 0 : rng.Next());
    }
    // An IPv4 address in disguise is told as what it is; see above.
    if (IN6_IS_ADDR_V4MAPPED(bytes.data())) continue;
    char text[INET6_ADDRSTRLEN];
    ASSERT_NE(inet_ntop(AF_INET6, bytes.data(), text, sizeof text), nullptr);
    const int prefix = static_cast<int>(rng.Uniform(0, 128));
    const std::string key = Address(text, {32, prefix});
    SCOPED_TRACE(std::string(text) + "/" + std::to_string(prefix) + " -> " +
                 key + ", WEIR_TEST_SEED=" + std::to_string(Seed()));
    for (int bit = prefix; bit < 128; ++bit) {
      bytes[static_cast<size_t>(bit / 8)] &=
          static_cast<uint8_t>(~(0x80 >> bit % 8));
    }
    std::array<uint8_t, 16> read;
    const std::string address = key.substr(0, key.find('/'));
    ASSERT_EQ(inet_pton(AF_INET6, address.c_str(), read.data()), 1);
    ASSERT_EQ(read, bytes);
    if (prefix < 128) {
      ASSERT_EQ(key, address + "/" + std::to_string(prefix));
    }
    ASSERT_EQ(Address(address, {32, prefix}), key);
  }
}

std::string Join(const std::vector<std::string>& parts) {
  const std::vector<std::string_view> views(parts.begin(), parts.end());
  absl::StatusOr<std::string> key = JoinKey(views);
  return key.ok() ? *key : std::string(key.status().message());
}

TEST(JoinKey, StaysReadable) {
  EXPECT_EQ(JoinKey({"user:42"}).value(), "user:42");
  EXPECT_EQ(JoinKey({"2001:db8::/64", "GET", "/books?id=1"}).value(),
            "2001:db8::/64|GET|/books?id=1");
  EXPECT_EQ(JoinKey({"a|b", "100%"}).value(), "a%7Cb|100%25");
}

TEST(JoinKey, KeepsListsApart) {
  const std::vector<std::vector<std::string>> lists = {
      {"a:b", "c"}, {"a", "b:c"}, {"a", "b", "c"}, {"a:b:c"}, {"a|b", "c"},
      {"a", "b|c"}, {"a|b|c"},    {"a%7Cb", "c"},  {""},      {"", ""},
      {"", "", ""}, {"|"},        {"||"},          {"a"},     {"a", ""},
      {"", "a"},    {"%"},        {"%25"},         {"%2525"}, {"%7C"},
      {"\0"s},      {"\0"s, ""},  {"", "\0"s},     {"\0\0"s}};
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < lists.size(); ++i) {
    const auto [at, fresh] = seen.emplace(Join(lists[i]), i);
    EXPECT_TRUE(fresh) << "lists " << at->second << " and " << i << ": "
                       << at->first;
  }
}

std::vector<std::string> RandomParts(Rng* rng) {
  // Few bytes, and those that matter, so that lists are often nearly alike.
  constexpr std::string_view kBytes("|%7C25a\0\xFF", 9);
  std::vector<std::string> parts(static_cast<size_t>(rng->Uniform(1, 4)));
  for (std::string& part : parts) {
    for (int64_t n = rng->Uniform(0, 4); n > 0; --n) {
      part += rng->OneIn(8) ? static_cast<char>(rng->Next())
                            : kBytes[static_cast<size_t>(rng->Uniform(0, 8))];
    }
  }
  return parts;
}

TEST(JoinKey, IsInjectiveOverRandomBytes) {
  Rng rng = TestRng();
  std::map<std::string, std::vector<std::string>> seen;
  int repeated = 0;
  for (int round = 0; round < Rounds(100'000, 2'000'000); ++round) {
    const std::vector<std::string> parts = RandomParts(&rng);
    const auto [at, fresh] = seen.emplace(Join(parts), parts);
    ASSERT_EQ(at->second, parts) << at->first << ", WEIR_TEST_SEED=" << Seed();
    repeated += fresh ? 0 : 1;
  }
  // Lists came close enough to each other to be equal at times.
  EXPECT_GT(repeated, 100);
}

TEST(JoinKey, OfTheFirstPartsIsAPrefix) {
  Rng rng = TestRng();
  for (int round = 0; round < Rounds(20'000, 1'000'000); ++round) {
    const std::vector<std::string> parts = RandomParts(&rng);
    const std::string key = Join(parts);
    for (size_t n = 1; n <= parts.size(); ++n) {
      const std::string first =
          Join({parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(n)});
      ASSERT_EQ(key.substr(0, first.size()), first)
          << key << ", WEIR_TEST_SEED=" << Seed();
    }
  }
}

TEST(JoinKey, RefusesNoPartsAndTooMuch) {
  EXPECT_THAT(Join({}), HasSubstr("parts: none"));
  EXPECT_EQ(Join({std::string(kMaxKeyBytes, 'x')}).size(), kMaxKeyBytes);
  EXPECT_THAT(Join({std::string(kMaxKeyBytes + 1, 'x')}),
              HasSubstr("key: 65537 bytes out of 1 parts"));
  EXPECT_EQ(Join({std::string(kMaxKeyBytes - 1, 'x'), ""}).size(),
            kMaxKeyBytes);
  EXPECT_THAT(Join({std::string(kMaxKeyBytes, 'x'), ""}),
              HasSubstr("allowed: at most 65536"));
  // What counts is the key, not what it is made of.
  EXPECT_THAT(Join({std::string(kMaxKeyBytes / 3 + 1, '%')}),
              HasSubstr("key: 65538 bytes"));
}

}  // namespace
}  // namespace weir
