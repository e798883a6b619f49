#include "backends/redis/sweep_keys.h"

#include <algorithm>
#include <string>
#include <vector>

#include "backends/redis/errors.h"
#include "backends/redis/key_name.h"
#include "backends/redis/sha1.h"
#include "backends/redis/slot.h"

namespace weir::redis {
namespace {

// One UNLINK a key: on a cluster each has a slot of its own, and one that is
// just arriving is refused.
constexpr std::string_view kText =
    "local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)"
    "\n"
    "if ARGV[3] == '1' then\n"
    "  for _, key in ipairs(page[2]) do redis.pcall('UNLINK', key) end\n"
    "end\n"
    "return {page[1], #page[2]}\n";

// A key of the namespace in this slot, only to say who is asked.
std::string KeyIn(int slot, std::string_view name_space) {
  const std::string prefix = KeyPrefix(name_space, "", "");
  for (int i = 0;; ++i) {
    std::string key = KeyName(prefix, std::to_string(i), std::to_string(i));
    if (SlotOf(key) == slot) return key;
  }
}

absl::StatusOr<int64_t> SweepNode(Client* client, int slot,
                                  std::string_view name_space, bool remove,
                                  std::chrono::microseconds timeout) {
  const std::string sha1 = Sha1(kText);
  const Script script = {"sweep_keys", kText, sha1};
  const std::string pattern = NamespacePattern(name_space);
  const std::string key = slot < 0 ? "" : KeyIn(slot, name_space);
  const std::vector<std::string_view> keys(slot < 0 ? 0 : 1, key);
  std::string cursor = "0";
  int64_t found = 0;
  do {
    const std::string_view args[] = {cursor, pattern, remove ? "1" : "0"};
    // Twice is as good as once.
    const ScriptCall call = {&script, keys, args, false};
    Reply reply;
    absl::Status status =
        client->Run(call, std::chrono::steady_clock::now() + timeout, &reply);
    if (!status.ok()) return status;
    if (reply.elements.size() != 2) {
      return MakeError(Reason::kProtocol, "", "a page of SCAN is misshapen");
    }
    cursor = reply.elements[0].text;
    found += reply.elements[1].integer;
  } while (cursor != "0" && (remove || found == 0));
  return found;
}

}  // namespace

absl::StatusOr<int64_t> SweepKeys(Client* client, std::string_view name_space,
                                  bool remove,
                                  std::chrono::microseconds timeout) {
  int64_t found = 0;
  // The map of a cluster comes with the first call.
  std::vector<int> left = client->SlotOfEachMaster();
  if (left.empty()) left = {0};
  std::vector<int> done;
  while (!left.empty() && (remove || found == 0)) {
    const absl::StatusOr<int64_t> here =
        SweepNode(client, left[0], name_space, remove, timeout);
    if (!here.ok()) return here.status();
    found += *here;
    done.push_back(left[0]);
    left = client->SlotOfEachMaster();
    left.erase(std::remove_if(left.begin(), left.end(),
                              [&](int slot) {
                                return std::find(done.begin(), done.end(),
                                                 slot) != done.end();
                              }),
               left.end());
  }
  return found;
}

}  // namespace weir::redis
