#include "backends/redis/router.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "backends/redis/resp.h"

namespace weir::redis {
namespace {

using std::chrono::microseconds;
using Steady = std::chrono::steady_clock;

// Commands of earlier calls of this thread leave their memory behind.
constexpr size_t kKeptBytes = 64 * 1024;

std::string* KeptBuffer() {
  static thread_local std::string buffer;
  return &buffer;
}

}  // namespace

// What one node is asked in a round.
struct Router::Group {
  Group() {
    batch.bytes.swap(*KeptBuffer());
    batch.bytes.clear();
  }
  ~Group() {
    if (batch.bytes.capacity() <= kKeptBytes) {
      KeptBuffer()->swap(batch.bytes);
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Sent, if there is a connection.
  void Begin(Node* node, SteadyTime now, SteadyTime deadline) {
    stream = node->Begin(&batch, now, deadline, &refused);
  }
  // Sent, if it can be.
  void Connect(Node* node, SteadyTime now, SteadyTime deadline) {
    if (stream != nullptr || refused) return;
    stream = node->Connect(&batch, now, deadline);
  }
  void Finish(Node* node, SteadyTime deadline) {
    if (stream != nullptr) node->Finish(stream.get(), &batch, deadline);
  }

  Batch batch;
  // For each ticket its legs, the first of which is given the reply; none for
  // what goes before a call.
  absl::InlinedVector<absl::Span<Leg* const>, 4> legs;
  std::shared_ptr<SharedStream> stream;
  bool refused = false;
  bool refresh = false;
  Reply map;
};

void Router::Run(absl::Span<Leg> legs, SteadyTime deadline) {
  tally_->calls.Add(static_cast<int64_t>(legs.size()));
  SteadyTime now = Steady::now();
  while (true) {
    bool over = true;
    microseconds pause(0);
    const bool late = now >= deadline;
    for (Leg& leg : legs) {
      if (leg.over) continue;
      if (late) {
        leg.course.RunOut(leg.node);
        tally_->Met(Reason::kTimeout);
        leg.over = true;
        continue;
      }
      over = false;
      pause = std::max(pause, leg.course.pause());
    }
    if (over) return;
    if (pause.count() > 0) {
      std::this_thread::sleep_until(std::min(deadline, now + pause));
      now = Steady::now();
      if (now >= deadline) continue;
    }
    Round(legs, now, deadline);
    if (legs.size() == 1 && legs[0].over) return;
    now = Steady::now();
  }
}

void Router::Round(absl::Span<Leg> legs, SteadyTime now, SteadyTime deadline) {
  bool refresh = map_->ClaimRefresh(now);
  if (refresh) {
    const Node* const silent = SilentNode(legs);
    if (silent != nullptr) {
      RefreshBeside(silent, now, deadline);
      refresh = false;
    }
  }
  if (legs.size() == 1) {
    Leg* const leg = &legs[0];
    Node* const node = Choose(leg, now);
    return node == nullptr ? void() : Ask(node, {leg}, refresh, now, deadline);
  }

  std::vector<std::pair<Node*, std::vector<Leg*>>> by_node;
  for (Leg& leg : legs) {
    if (leg.over) continue;
    Node* const node = Choose(&leg, now);
    if (node == nullptr) continue;
    auto place =
        std::find_if(by_node.begin(), by_node.end(),
                     [node](const auto& e) { return e.first == node; });
    if (place == by_node.end()) {
      place = by_node.emplace(by_node.end(), node, std::vector<Leg*>());
    }
    place->second.push_back(&leg);
  }
  std::vector<std::unique_ptr<Group>> groups;
  for (const auto& [node, its_legs] : by_node) {
    groups.push_back(std::make_unique<Group>());
    Fill(*node, its_legs, std::exchange(refresh, false), groups.back().get());
    groups.back()->Begin(node, now, deadline);
  }
  // A node that does not answer can take all the time there is to connect: by
  // then the others have been asked.
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i]->Connect(by_node[i].first, now, deadline);
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i]->Finish(by_node[i].first, deadline);
    Settle(by_node[i].first, groups[i].get());
  }
}

Node* Router::Choose(Leg* leg, SteadyTime now) {
  leg->node = leg->course.Choose(map_, now);
  if (leg->node == nullptr) leg->over = leg->course.GiveUp();
  return leg->node;
}

void Router::Ask(Node* node, absl::Span<Leg* const> legs, bool refresh,
                 SteadyTime now, SteadyTime deadline) {
  Group group;
  Fill(*node, legs, refresh, &group);
  group.Begin(node, now, deadline);
  group.Connect(node, now, deadline);
  group.Finish(node, deadline);
  Settle(node, &group);
}

void Router::Fill(const Node& node, absl::Span<Leg* const> legs, bool refresh,
                  Group* group) {
  Batch& batch = group->batch;
  const auto add = [&](absl::Span<Leg* const> its_legs, Reply* reply) {
    if (its_legs.empty()) {
      batch.AddTicket(reply, 0);
    } else {
      batch.AddTicket(reply, its_legs[0]->call->reply_bytes, its_legs.size());
    }
    group->legs.push_back(its_legs);
  };
  group->refresh = refresh;
  if (refresh) {
    AppendCommand({"CLUSTER", "SLOTS"}, &batch.bytes);
    add({}, &group->map);
  }
  absl::InlinedVector<const Script*, 4> sent_texts;
  std::vector<std::string_view> keys;
  for (size_t i = 0, count = 0; i < legs.size(); i += count) {
    count = Sharing(node, legs.subspan(i));
    const Leg& leg = *legs[i];
    if (leg.course.asking()) {
      AppendCommand({"ASKING"}, &batch.bytes);
      add({}, nullptr);
    }
    How how = leg.course.how();
    if (how == How::kEval) {
      // Once in a batch: those behind it find the script there.
      const Script* const script = leg.call->script;
      if (std::find(sent_texts.begin(), sent_texts.end(), script) !=
          sent_texts.end()) {
        how = How::kEvalSha;
      } else {
        sent_texts.push_back(script);
        tally_->evals.Add();
      }
    }
    absl::Span<const std::string_view> its_keys = leg.call->keys;
    if (count > 1) {
      keys.clear();
      for (const Leg* one : legs.subspan(i, count)) {
        keys.push_back(one->call->keys[0]);
      }
      its_keys = keys;
    }
    AppendCall(how, *leg.call->script, its_keys, leg.call->args, &batch.bytes);
    add(legs.subspan(i, count), leg.reply);
  }
}

size_t Router::Sharing(const Node& node, absl::Span<Leg* const> legs) const {
  const Leg& first = *legs[0];
  const auto may_share = [](const Leg& leg) {
    return leg.call->each_key && !leg.alone;
  };
  if (options_.cluster || has_slots_.load(std::memory_order_relaxed) ||
      !may_share(first) || !node.IsOneServer()) {
    return 1;
  }
  const size_t most =
      std::min(legs.size(), static_cast<size_t>(options_.batch));
  size_t count = 1;
  while (count < most && may_share(*legs[count]) &&
         legs[count]->call->script == first.call->script &&
         legs[count]->call->args.data() == first.call->args.data() &&
         legs[count]->course.how() == first.course.how()) {
    ++count;
  }
  return count;
}

void Router::Settle(Node* node, Group* group) {
  const Batch& batch = group->batch;
  if (group->refresh) {
    batch.tickets[0].answered ? void(map_->Apply(group->map, *node))
                              : map_->EndRefresh();
  }
  bool told = false;
  for (size_t i = 0; i < batch.tickets.size(); ++i) {
    const absl::Span<Leg* const> legs = group->legs[i];
    const Ticket& ticket = batch.tickets[i];
    Attempt attempt;
    if (!ticket.answered) {
      attempt.failed = ticket.failed;
      attempt.may_have_run = ticket.may_have_run;
      attempt.status = batch.status;
      attempt.words = batch.words;
    } else if (legs.size() > 1 && !Divide(legs)) {
      continue;
    }
    for (Leg* leg : legs) {
      if (ticket.answered) attempt.reply = leg->reply;
      attempt.told = told;
      told = told || (ticket.answered && CannotServe(*leg->reply));
      leg->over = leg->course.Judge(attempt, node, options_, map_, tally_);
    }
  }
}

bool Router::Divide(absl::Span<Leg* const> legs) {
  Reply whole = std::move(*legs[0]->reply);
  if (whole.type != Reply::Type::kError) {
    for (size_t i = 0; i < legs.size(); ++i) {
      *legs[i]->reply = std::move(whole.elements[i]);
    }
    return true;
  }
  const Reason reason = ClassifyReply(whole.text);
  if (reason == Reason::kCrossSlot) {
    has_slots_.store(true, std::memory_order_relaxed);
  }
  // What a user may not do can be to touch one of the keys.
  if (reason == Reason::kCrossSlot || reason == Reason::kNoPermission) {
    for (Leg* leg : legs) leg->alone = true;
    return false;
  }
  for (Leg* leg : legs) *leg->reply = whole;
  return true;
}

const Node* Router::SilentNode(absl::Span<Leg> legs) {
  for (Leg& leg : legs) {
    if (leg.over) continue;
    const Node* const silent = leg.course.Silent(map_);
    if (silent != nullptr) return silent;
  }
  return nullptr;
}

void Router::RefreshBeside(const Node* silent, SteadyTime now,
                           SteadyTime deadline) {
  // Half of what is left, so that something remains for the call itself.
  const SteadyTime until = now + (deadline - now) / 2;
  Node* const node = map_->Any(silent);
  node != nullptr ? Ask(node, {}, true, now, until) : map_->EndRefresh();
}

}  // namespace weir::redis
