// The header fields and the body of an HTTP response that was limited.
#include <chrono>
#include <iostream>
#include <string>

#include "weir/http.h"
#include "weir/keys.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"

using namespace std::chrono_literals;

int main() {
  auto store = weir::MemoryStore::Create();
  auto limiter = weir::Limiter::Create(
      *store, {{"burst", weir::Limit::Gcra(2, 1s), false, {}},
               {"daily", weir::Limit::FixedWindow(1000, 24h), false, {}}});
  if (!limiter.ok()) return 1;

  // Once, beside the limiter.
  weir::HttpOptions options;
  options.x_rate_limit = true;
  options.jitter.share = 0.1;
  auto http = weir::HttpWriter::Create(*limiter, options);
  if (!http.ok()) {
    std::cerr << http.status() << "\n";
    return 1;
  }

  // For each request: who is it, may it pass, and what are they told?
  for (const char* peer : {"[2001:db8:1:2::5]:40000", "2001:db8:1:2::6",
                           "[2001:db8:1:2:ffff::]:443"}) {
    auto client = weir::AddressKey(peer);  // one key for the /64
    if (!client.ok()) return 1;            // no address: answer 400
    auto key = weir::JoinKey({*client, "GET", "/books"});
    if (!key.ok()) return 1;
    auto decision = limiter->Check(*key);
    if (!decision.ok()) return 1;  // undecided: pass or refuse, your choice

    std::cout << (decision->allowed ? "200 OK" : "429 Too Many Requests")
              << "\n";
    for (const weir::HttpField& field : http->Fields(*decision)) {
      std::cout << field.name << ": " << field.value << "\n";
    }
    if (!decision->allowed) {
      const weir::HttpProblem problem = http->Problem(*decision);
      std::cout << "Content-Type: " << problem.content_type << "\n\n"
                << problem.body << "\n";
    }
    std::cout << "\n";
  }
}
