#include "tools/cli/replay_store.h"

#include <chrono>
#include <cstdint>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/text.h"
#include "tools/cli/run_setup.h"
#include "tools/limits_json/printable.h"
#ifdef WEIR_HAVE_REDIS
#include "weir/redis_store.h"
#endif

namespace weir::cli {
namespace {

#ifdef WEIR_HAVE_REDIS

std::string FreshNamespace() {
  std::random_device random;
  const uint64_t number = uint64_t{random()} << 32 | random();
  return absl::StrCat("weir-replay-", absl::Hex(number, absl::kZeroPad16));
}

absl::Status CheckEmpty(RedisStore& store) {
  const absl::StatusOr<bool> empty = store.NamespaceIsEmpty();
  if (!empty.ok()) return empty.status();
  if (*empty) return absl::OkStatus();
  return InvalidArgument("namespace: \"", Printable(store.name_space(), 200),
                         "\" holds keys, and a replay removes all of its own "
                         "at the end; allowed: an empty one");
}

absl::StatusOr<ReplayStore> OpenRedis(const std::string& url,
                                      const std::string& name_space) {
  RedisStoreOptions options;
  options.name_space = name_space.empty() ? FreshNamespace() : name_space;
  // Nobody waits for a single decision here.
  options.timeout = std::chrono::seconds(5);
  absl::StatusOr<std::shared_ptr<RedisStore>> made =
      RedisStore::Create(url, options);
  if (!made.ok()) return made.status();
  const std::shared_ptr<RedisStore> store = *std::move(made);
  if (!name_space.empty() && store->name_space() != name_space) {
    return InvalidArgument(
        "--namespace: the URL names another; allowed: one of them");
  }
  if (absl::Status s = CheckEmpty(*store); !s.ok()) return s;
  ReplayStore result;
  result.store = store;
  result.remove = [store] { return store->RemoveNamespace().status(); };
  return result;
}

#else

absl::StatusOr<ReplayStore> OpenRedis(const std::string&, const std::string&) {
  return absl::UnimplementedError(
      "--store: this weir was built without Redis (hiredis was not found)");
}

#endif

}  // namespace

absl::StatusOr<ReplayStore> OpenReplayStore(const std::string& url,
                                            const std::string& name_space) {
  if (!url.empty()) return OpenRedis(url, name_space);
  if (!name_space.empty()) {
    return InvalidArgument("--namespace: needs --store");
  }
  absl::StatusOr<std::shared_ptr<Store>> store = EmbeddedStore();
  if (!store.ok()) return store.status();
  ReplayStore result;
  result.store = *std::move(store);
  return result;
}

}  // namespace weir::cli
