#include "backends/redis/sweep_keys.h"

#include <string_view>

#include "backends/redis/errors.h"
#include "backends/redis/sha1.h"

namespace weir::redis {
namespace {

constexpr std::string_view kText =
    "local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)"
    "\n"
    "if ARGV[3] == '1' then\n"
    "  for _, key in ipairs(page[2]) do redis.call('UNLINK', key) end\n"
    "end\n"
    "return {page[1], #page[2]}\n";

}  // namespace

absl::StatusOr<int64_t> SweepKeys(Client* client, const std::string& pattern,
                                  bool remove,
                                  std::chrono::microseconds timeout) {
  const std::string sha1 = Sha1(kText);
  const Script script = {"sweep_keys", kText, sha1};
  std::string cursor = "0";
  int64_t found = 0;
  do {
    const std::string_view args[] = {cursor, pattern, remove ? "1" : "0"};
    // Twice is as good as once.
    const ScriptCall call = {&script, {}, args, false};
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

}  // namespace weir::redis
