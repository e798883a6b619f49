// The store on Redis: state that a whole fleet shares.
//
//   auto store = weir::RedisStore::Create("redis://127.0.0.1:6379");
//   auto limiter = weir::Limiter::Create(*store, weir::Limit::Gcra(100, 1s));
//
// A call is one script that runs on the server, atomic over all its rules: one
// round trip, by the server's own time unless the call brings one. It answers
// as the embedded store does, field by field.
//
// Errors: a Status says why a call was not decided. After DeadlineExceeded, or
// a connection that was lost on the way, the call may have been charged all the
// same; it is not sent again.
//
// Memory: one Redis key for each rule and key that is in use. It expires one
// second after it equals a fresh one; an hour after, where calls bring their
// own times, which the server's clock knows nothing of.
//
// Thread safety: every method, from any thread.
#ifndef WEIR_REDIS_STORE_H_
#define WEIR_REDIS_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weir/store.h"
#include "weir/time.h"

namespace weir {

// The Lua half of an engine of the user's own (docs/adding-an-engine.md).
struct ScriptedEngine {
  std::string algorithm;  // as in its EngineInfo
  std::string lua;        // the text
};

struct RedisStoreOptions {
  // Begins the name of every key; stores with different ones share nothing.
  // A namespace in the URL goes before it.
  std::string name_space = "weir";
  // The longest that a call may take, everything included. A timeout in the
  // URL goes before it.
  Micros timeout = std::chrono::milliseconds(100);
  std::vector<ScriptedEngine> engines;
};

class RedisStore final : public Store {
 public:
  // Connects at the first call, so it works while Redis is down.
  // "redis://user:password@host:port/db?namespace=shop&timeout=50ms".
  // InvalidArgument says what is wrong with the URL or an option.
  static absl::StatusOr<std::shared_ptr<RedisStore>> Create(
      std::string_view url, const RedisStoreOptions& options = {});
  ~RedisStore() override;

  // This machine's time, near enough to the server's to check a limit by.
  // Calls are decided by the server's.
  Time Now() const override;

  // FailedPrecondition: the algorithm has no Lua half.
  absl::StatusOr<std::shared_ptr<const StoreRule>> Attach(
      std::string_view rule_name, const CompiledLimit& limit) override;

  absl::Status Run(Op op, std::optional<Time> now, const Step* steps,
                   Outcome* outcomes, size_t count) override;

 private:
  struct Impl;
  explicit RedisStore(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace weir

#endif  // WEIR_REDIS_STORE_H_
