// The store that `weir replay` decides on: embedded, or on Redis in a namespace
// of its own.
#ifndef WEIR_TOOLS_CLI_REPLAY_STORE_H_
#define WEIR_TOOLS_CLI_REPLAY_STORE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weir/store.h"

namespace weir::cli {

struct ReplayStore {
  std::shared_ptr<Store> store;
  // Removes what the run has left.
  std::function<absl::Status()> remove = [] { return absl::OkStatus(); };
};

// `url`: empty for the embedded store. `name_space`: empty for a fresh one; it
// must hold no keys, since all of it is removed at the end.
// InvalidArgument: the URL or the namespace. Unimplemented: there is no Redis
// in this build. Anything else: the server does not answer.
absl::StatusOr<ReplayStore> OpenReplayStore(const std::string& url,
                                            const std::string& name_space);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPLAY_STORE_H_
