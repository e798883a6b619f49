#include "backends/memory/record_map.h"

namespace weir {
namespace {

constexpr int kRecordsAnAttach = 4;  // are looked at

}  // namespace

std::shared_ptr<const StoreRule> RecordMap::Attach(std::string_view rule_name,
                                                   const CompiledLimit& limit,
                                                   Ops ops,
                                                   TableContext* context,
                                                   StoreParts parts) {
  const MutexLock lock(&mutex_);
  Collect(&context->records);
  const std::shared_ptr<LimitRecord>& record =
      Find(rule_name, limit, ops, parts, context->hash);
  record->uses.AddHandle();
  // The record goes with the last of the map and its handles. If there is no
  // memory for this one, it is given back at once.
  return {record.get(),
          [record](const StoreRule*) { record->uses.DropHandle(); }};
}

const std::shared_ptr<LimitRecord>& RecordMap::Find(std::string_view rule_name,
                                                    const CompiledLimit& limit,
                                                    Ops ops, StoreParts parts,
                                                    const KeyHash& hash) {
  States::key_type name = {std::string(rule_name), limit.algorithm,
                           limit.engine};
  auto state = states_.find(name);
  // Put to the others once there is memory for all.
  States fresh;
  const bool id_is_new = free_state_ids_.empty();
  if (state == states_.end()) {
    state = fresh.try_emplace(std::move(name)).first;
    state->second.id = id_is_new ? state_ids_ : free_state_ids_.back();
  }
  State& s = state->second;
  const auto known = records_.find({s.id, limit.text});
  if (known != records_.end()) return known->second.record;
  // What an engine from outside the tree makes of the calls of several keys is
  // not known to be as strict as what it makes of each.
  const bool built_in = ops.word != nullptr || ops.general != nullptr;
  auto record = std::make_shared<LimitRecord>(
      s.id, hash.Seed(s.id), limit, ops.word, ops.general,
      share_ && built_in ? &s.shared : nullptr, parts);
  const Records::key_type key = {s.id, record->limit.text};
  const auto added = records_.try_emplace(key, Known{std::move(record), state});
  ++s.records;
  if (!fresh.empty()) {
    if (id_is_new) {
      ++state_ids_;
    } else {
      free_state_ids_.pop_back();
    }
    states_.merge(fresh);
  }
  return added.first->second.record;
}

void RecordMap::Collect(RecordTable* table) {
  for (int i = 0; i < kRecordsAnAttach && !records_.empty(); ++i) {
    if (next_ == records_.end()) next_ = records_.begin();
    const LimitRecord& record = *next_->second.record;
    // In this order: without a handle nobody comes to hold it anew. So it is
    // found by nobody any more: not here, since the lock is held; nor by an
    // entry, a cell or a shared state, since each of them holds it, and so does
    // a call that read it there and changes that.
    if (record.uses.HasHandles() || record.uses.Held()) {
      ++next_;
      continue;
    }
    const States::iterator state = next_->second.state;
    const bool last = state->second.records == 1;
    // First what may need memory.
    if (last) free_state_ids_.push_back(state->second.id);
    table->Forget(record);
    next_ = records_.erase(next_);
    --state->second.records;
    if (last) states_.erase(state);
  }
}

}  // namespace weir
