// The store on Redis: state that a whole fleet shares.
//
//   auto store = weir::RedisStore::Create("redis://127.0.0.1:6379");
//   auto limiter = weir::Limiter::Create(*store, weir::Limit::Gcra(100, 1s));
//
// A call is one script that runs on the server, atomic over all its rules: one
// round trip, by the server's own time unless the call brings one. It answers
// as the embedded store does, field by field.
//
// Callers on many threads share one socket, and their calls are pipelined.
// Limiter::CheckMany of 64 keys is one round trip to each node; with one rule
// it is two commands, and the keys of a command have one reading of the time.
//
// Errors: a Status says why a call was not decided. After DeadlineExceeded, or
// a connection that was lost on the way, the call may have been charged all the
// same; it is not sent again. Those that are outages (IsOutage) are what
// weir/outage.h is for; others say what has to be changed, and by whom.
// docs/redis.md has a table of both.
//
// Memory: one Redis key for each rule and key that is in use. It expires one
// second after it equals a fresh one; an hour after, where calls bring their
// own times, which the server's clock knows nothing of.
//
// Thread safety: every method, from any thread.
#ifndef WEIR_REDIS_STORE_H_
#define WEIR_REDIS_STORE_H_

#include <cstdint>
#include <functional>
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
  std::string algorithm = {};  // as in its EngineInfo
  std::string lua = {};        // the text
};

// How a store speaks TLS, which it does where the URL begins with rediss:// or
// rediss+cluster://. Each field stands for the URL's parameter tls_NAME, which
// goes before it.
struct RedisTls {
  // PEM files, read when the store is made. No CA: those that the system
  // trusts. A certificate of the client's own comes with its key.
  std::string ca_file = {};
  std::string cert_file = {};
  std::string key_file = {};
  // The name that the server's certificate must bear, on a cluster that of
  // every node. Empty: the host that is connected to.
  std::string server_name = {};
  // false ("no"): anybody can be the server.
  bool verify = true;
};

struct RedisStoreOptions {
  // Begins the name of every key; stores with different ones share nothing.
  // A namespace in the URL goes before it.
  std::string name_space = "weir";
  // The longest that a call may take, everything included: the wait for a
  // connection too. At most an hour. A timeout in the URL goes before it.
  Micros timeout = std::chrono::milliseconds(100);
  // The fields below stand for parameters of the URL of the same names, which
  // go before them.
  //
  // Sockets to each node. One is nearly always best: calls that share a socket
  // share its system calls.
  int connections = 1;
  // What carries Limiter::CheckAsync. 1: a thread of the store's own. 0: who
  // watches event_fd() and calls Process().
  int io_threads = 0;
  // Busy waiting before a blocking caller sleeps: quicker, and a core is spent.
  Micros spin{0};
  // How many keys of a CheckMany go as one command, 1 to 32. 1 where a proxy
  // stands between, which takes a command to the server that has its first key;
  // docs/redis.md tells more. On a cluster each key is a command of its own.
  int batch = 32;
  // The longest that connecting, TLS, AUTH, SELECT and INFO may take together.
  // Where a name has several addresses, each has its share of what is left.
  Micros connect_timeout = std::chrono::seconds(1);
  RedisTls tls = {};
  std::vector<ScriptedEngine> engines = {};
};

class RedisStore final : public Store {
 public:
  // Connects at the first call, so it works while Redis is down.
  // "redis://user:password@host:port/db?namespace=shop&timeout=50ms".
  // InvalidArgument says what is wrong with the URL or an option, or which file
  // can't be used. Unimplemented: TLS, in a build without OpenSSL. Unavailable:
  // with io_threads = 1, the system has no descriptors or no thread for it.
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
  // One batch for each node; the deadline is that of all of them.
  void RunEach(Op op, std::optional<Time> now, const Step* steps,
               Outcome* outcomes, absl::Status* statuses,
               size_t count) override;
  void RunMany(Op op, std::optional<Time> now,
               absl::Span<BatchedCall> calls) override;
  // Calls back on the store's own thread (io_threads = 1), else in Process().
  // `done` must not destroy the store.
  void RunAsync(Op op, std::optional<Time> now, const Step* steps,
                Outcome* outcomes, size_t count,
                std::function<void(absl::Status)> done) override;
  // Unreachable, too slow, loading, failing over, out of memory, read-only and
  // the like; not: a wrong password, a missing permission, a key of another
  // type, an error in a script.
  bool IsOutage(const absl::Status& status) const override;
  // The call was not decided, and may have been charged all the same.
  static bool MayHaveCharged(const absl::Status& status);
  // The same.
  bool MayHaveRun(const absl::Status& status) const override;

  // With io_threads = 0: a descriptor that becomes readable when Process() has
  // work. -1 if the store has a thread, or while the system has no descriptors
  // left: asynchronous calls are outages then, and the next one tries again.
  int event_fd();
  // Does what can be done without blocking, and calls back: up to some hundred
  // calls of a kind, and event_fd() stays readable if there is more. One thread
  // at a time; others return at once.
  void Process();

  std::string_view name_space() const;
  // Looks through every key of the server, or of every master, a thousand at a
  // time, and removes those of this store's namespace; returns how many. For
  // namespaces of passing use, such as a test's: whoever has them is as fresh
  // afterwards. Each step takes at most the store's timeout. Needs +scan and
  // +unlink. On a cluster, keys of slots that are moved meanwhile may be left
  // to expire.
  absl::StatusOr<int64_t> RemoveNamespace();
  // The same search, which ends at the first key found and removes nothing.
  absl::StatusOr<bool> NamespaceIsEmpty();

  // Counts since the store was made, each with its name, in a fixed order:
  // "calls", "connects", "late_replies", ... and "met_REASON" for each reason
  // that a call can fail by or has to follow ("met_timeout", "met_moved").
  // docs/redis.md lists them.
  void VisitCounters(const std::function<void(std::string_view name,
                                              int64_t value)>& visit) const;

 private:
  struct Impl;
  absl::StatusOr<int64_t> SweepNamespace(bool remove);
  explicit RedisStore(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace weir

#endif  // WEIR_REDIS_STORE_H_
