// What a caller reads of a call that was not decided.
#include "backends/memory/memory_store_impl.h"
#include "core/text.h"

namespace weir {

absl::Status MemoryStore::Impl::NotDecided(const Refusal& refusal) {
  if (refusal.faulty == nullptr) {
    refused.fetch_add(1, std::memory_order_relaxed);  // a bare count
    return NoRoom();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("engine \"", refusal.faulty->limit.algorithm,
                   "\" leaves an error of a command untaken: ", refusal.error,
                   "; the call was not decided"));
}

absl::Status MemoryStore::Impl::NoRoom() {
  const bool bytes = keeper.out_of_bytes();
  const bool below =
      keeper.max_keys() == 0 || keeper.keys() < keeper.max_keys();
  // relaxed, twice: only for the wording.
  if (!bytes && below &&
      keeper.context().ids_were_out.load(std::memory_order_relaxed)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "capacity: keys are held under ", keeper.context().records.most(),
        " different limits, which is the most; the call was not decided"));
  }
  if (!bytes && below &&
      keeper.context().size_was_full.load(std::memory_order_relaxed)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "capacity: a stripe holds ", keeper.context().most_of_a_size,
        " keys of one size, which is the most; the call was not decided; "
        "allowed: more stripes"));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "capacity: the store holds ", bytes ? "max_bytes = " : "max_keys = ",
      bytes ? keeper.max_bytes() : keeper.max_keys(),
      bytes ? " bytes" : " keys",
      " and found no key that could leave; the call was not decided"));
}

}  // namespace weir
