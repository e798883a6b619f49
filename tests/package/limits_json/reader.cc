// A program that has its limits in a text.
#include <iostream>

#include "weir/limiter.h"
#include "weir/limits_json.h"
#include "weir/memory_store.h"

int main() {
  const auto limits = weir::LimitsJson::Parse(
      R"({"rules": [{"algorithm": "uniform", "interval": "1h"}]})");
  if (!limits.ok()) {
    std::cerr << limits.status() << "\n";
    return 1;
  }
  const auto limiter =
      weir::Limiter::Create(*weir::MemoryStore::Create(), limits->rules());
  if (!limiter.ok()) return 1;
  return limiter->Check("a")->allowed && !limiter->Check("a")->allowed ? 0 : 1;
}
