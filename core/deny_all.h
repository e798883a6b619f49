// The engine behind a limit of 0: denies every call, keeps nothing.
#ifndef WEIR_CORE_DENY_ALL_H_
#define WEIR_CORE_DENY_ALL_H_

#include <cstdint>

#include "weir/engine.h"

namespace weir {

struct DenyAll {
  struct Params {};

  template <class T>
  class View {
   public:
    View(T&, const Params&, const Params*, int64_t) {}
    bool Admits(int64_t) const { return false; }
    void Charge(int64_t) {}
    void Refund(int64_t) {}
    void Settle() {}
    int64_t Remaining() const { return 0; }
    int64_t Wait(int64_t) const { return kNever; }
    int64_t ResetAfter() const { return 0; }
  };
};

}  // namespace weir

#endif  // WEIR_CORE_DENY_ALL_H_
