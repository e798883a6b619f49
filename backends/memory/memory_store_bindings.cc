// Handles: keys whose state lies in a cell of its own (bound_cell.h).
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "backends/memory/memory_store_impl.h"
#include "backends/memory/shared_state.h"

namespace weir {

absl::StatusOr<std::unique_ptr<Binding>> MemoryStore::Bind(
    const StoreRule& rule, std::string_view key) {
  const auto& record = static_cast<const LimitRecord&>(rule);
  // A limit of 0 keeps no state.
  if (record.check_in_place == nullptr) return nullptr;
  BoundCell* cell = impl_->BindCell(record, key);
  if (cell == nullptr) {
    // Its calls go by key, and so by what keys without room share.
    if (impl_->share) return nullptr;
    return impl_->NoRoom();
  }
  // The cell is the binding's, if that is made.
  auto unbind = absl::MakeCleanup([&] { impl_->Unbind(record, key, cell); });
  std::unique_ptr<Binding> binding = record.word->bind(
      impl_.get(), &record,
      {record.params, record.limit.traits.capacity, record.counts_denied}, key,
      cell);
  std::move(unbind).Cancel();
  return binding;
}

BoundCell* MemoryStore::Impl::BindCell(const LimitRecord& record,
                                       std::string_view key) {
  const uint64_t hash = HashOf(record, key);
  const size_t index = keeper.StripeOf(hash);
  const Reading known = Known(nullptr);
  MemoryCall call = CallAt(known, absl::MakeConstSpan(&index, 1));
  ReadClock(known, &call);
  // Made first: nothing has to be undone if there is no memory.
  auto fresh = std::make_unique<BoundCell>(&record);
  Stripe& s = keeper.stripe(index);
  const SpinLockHolder lock(&s.mutex);
  const RoomSeeker seeker = call.SeekerAt(index);
  // The call's own, as long as it lasts.
  if (!keeper.Hold(record, seeker)) return nullptr;
  const absl::Cleanup let_go = [&] { record.uses.Drop(); };
  Table::Entry e = s.table.Find(hash, record, key);
  if (!e) {
    if (!s.table.HasRoom(record, key) || !keeper.Reserve(seeker)) {
      return nullptr;
    }
    auto release = absl::MakeCleanup([&] { keeper.Release(1); });
    e = s.table.Insert(hash, record, key);
    record.uses.Add();
    std::move(release).Cancel();
    if (!share || !FillFromShared(record, call.now, fresh.get())) {
      record.uses.Add();
    }
  } else if (e.slot().bound()) {
    auto* cell = LoadPointer<BoundCell>(e.state(s.table.RecordOf(e.slot())));
    ++cell->handles;
    record.uses.AddHandle();
    return cell;
  } else {
    // Room for the cell; what leaves for it may move this entry.
    e.slot().set_held(true);
    const bool room = keeper.ReserveBytes(seeker);
    e = s.table.Find(hash, record, key);
    if (!e) return nullptr;  // never: what is held does not leave
    e.slot().set_held(false);
    if (!room) return nullptr;
    const LimitRecord& written = s.table.RecordOf(e.slot());
    written.uses.Add();
    fresh->Fill(&written, e.state(written), written.state_bytes);
  }
  StorePointer(e.state(s.table.RecordOf(e.slot())), fresh.get());
  e.slot().set_bound(true);
  keeper.context().CountBytes(sizeof(BoundCell));
  BoundCell* cell = fresh.release();
  ++cell->handles;
  record.uses.AddHandle();
  return cell;
}

bool MemoryStore::Impl::FillFromShared(const LimitRecord& record, int64_t now,
                                       BoundCell* cell) {
  SharedState& from = *record.shared;
  const SpinLockHolder lock(&shared_mutex);
  if (!from.InUse(now)) return false;
  const LimitRecord& written = *from.written_under();
  written.uses.Add();
  alignas(8) char state[BoundCell::kBytes];
  std::memcpy(state, from.state(), written.state_bytes);
  SharedState::OpenWindow(written, now, state);
  cell->Fill(&written, state, written.state_bytes);
  return true;
}

absl::Status MemoryStore::Impl::CheckByKey(const LimitRecord& record,
                                           std::string_view key,
                                           const Time* now, int64_t cost,
                                           BoundOutcome* outcome) {
  Step step;
  step.rule = &record;
  step.key = key;
  step.cost = cost;
  Outcome o;
  const Reading known = Known(now);
  Refusal refusal;
  if (!RunOne(Op::kCheck, known, step, HashOf(record, key), &o, &refusal)) {
    return NotDecided(refusal);
  }
  outcome->of = nullptr;
  outcome->known = {o.numbers, record.limit.traits.capacity};
  outcome->allowed = o.allowed;
  outcome->source = Source::kStore;
  return absl::OkStatus();
}

void MemoryStore::Impl::Unbind(const LimitRecord& record, std::string_view key,
                               BoundCell* cell) {
  const uint64_t hash = HashOf(record, key);
  Stripe& s = keeper.stripe(keeper.StripeOf(hash));
  // Last of all.
  const absl::Cleanup let_go = [&] { record.uses.DropHandle(); };
  const SpinLockHolder lock(&s.mutex);
  if (--cell->handles > 0) return;
  // No handle is left, and the stripe is locked: nobody else uses the cell.
  Table::Entry e = s.table.Find(hash, record, key);
  if (!e) return;  // never: an entry with a cell does not leave
  char state[BoundCell::kBytes];
  const LimitRecord& written = *cell->record();
  if (cell->Load<sizeof(state)>(state)) {
    const LimitRecord& named = s.table.RecordOf(e.slot());
    if (written.state_bytes != named.state_bytes) {
      try {
        s.table.Book(written, key.size());
      } catch (const std::bad_alloc&) {
        // The state stays in its cell until the next handle of this key goes.
        return;
      }
      e = s.table.Refit(hash, e, named.state_bytes, written.state_bytes);
      s.table.Unbook(written, key.size());
    }
    // The cell's hold becomes the entry's.
    e.slot().set_bound(false);
    e.slot().set_record_id(written.id);
    named.uses.Drop();
    std::memcpy(e.state(written), state, written.state_bytes);
  } else {
    s.table.Remove(hash, e);
    keeper.Release(1);
    written.uses.Drop();
  }
  keeper.context().CountBytes(-static_cast<int64_t>(sizeof(BoundCell)));
  delete cell;
}

}  // namespace weir
