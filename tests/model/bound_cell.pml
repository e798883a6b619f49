/* One key, with and without a cell: backends/memory/bound_cell.h,
   bound_check.h, open_key.cc and memory_store_bindings.cc (BindCell, Unbind),
   sequentially consistent; cell_orders.pml has the memory orders. What is done
   under the stripe's lock and touches no cell that a handle may be at is one
   step: only handles do without that lock. A word is what is used plus 8 times
   the record it was written under. A promise has a name, for run.sh. */
#define CAP 2
#define ABSENT 255
#define NONE 0
#define PLAIN 1
#define BOUND 2
byte version, rec, w0 = ABSENT, w1 = ABSENT;      /* the cell */
bool alive;
byte handles;
byte entry = NONE, entry_rec, entry_word;         /* the entry */
bool stripe, held;
byte granted;                                     /* less what is refunded */
bool in_use, whole, of_its_record, within, room_kept, state_kept;

inline promise(name, what) { d_step { name = (what); assert(name); name = 0 } }
inline grant() {
  d_step { granted++; within = granted <= CAP; assert(within); within = 0 }
}
inline lock_stripe() { atomic { !stripe -> stripe = true } }
#define touch(read) \
  d_step { in_use = alive; assert(in_use); in_use = 0; read }

/* Keeper::Examine: an entry that equals a fresh key leaves. */
inline examine() {
  if
#ifdef EVICT_USED
  :: entry == PLAIN && !held -> entry = NONE
#elif defined(EVICT_BOUND)
  :: entry == BOUND || (entry == PLAIN && entry_word % 8 == 0 && !held) ->
     entry = NONE
#else
  :: entry == PLAIN && !held && entry_word % 8 == 0 -> entry = NONE
#endif
  :: else
  fi
}

inline bind(mine) {
  atomic {
    !stripe ->
    if
    :: entry == NONE ->
      w0 = ABSENT; w1 = ABSENT; rec = mine; version = 0; alive = true;
      entry = BOUND; entry_rec = mine; entry_word = 0
    :: entry == BOUND
    :: entry == PLAIN ->
#ifndef BIND_NOT_HELD
      held = true;
#endif
      if :: examine() :: true fi;   /* ReserveBytes */
      promise(room_kept, entry == PLAIN);
      held = false;
      w0 = entry_word; w1 = entry_word; rec = entry_rec;
#ifdef BIND_FRESH
      w0 = ABSENT; w1 = ABSENT;
#endif
      version = 0; alive = true; entry = BOUND
    fi;
    handles++
  }
}

inline unbind() {
  atomic {
    !stripe ->
    handles--;
    if
#ifdef UNBIND_EARLY
    :: alive ->
#else
    :: handles == 0 ->
#endif
      promise(state_kept, entry == BOUND && version % 2 == 0);
      if
      :: w0 == ABSENT -> entry = NONE
      :: else ->
        entry = PLAIN;
#ifndef UNBIND_KEEPS_RECORD
        entry_rec = rec;
#endif
#ifdef UNBIND_FORGETS
        entry_word = 8 * rec
#else
        entry_word = w0
#endif
      fi;
      alive = false; version = 0; rec = 0; w0 = ABSENT; w1 = ABSENT
    :: else
    fi
  }
}

/* OpenKey and CloseCell: `word` is the state while the key is open. */
inline open(word, was) {
  lock_stripe();
  if
  :: entry == BOUND ->
#ifdef OPEN_NOT_BUSY
    touch(skip);
#else
    atomic { version % 2 == 0 -> touch(version++) };
#endif
    atomic {
      d_step { was = rec; word = w0 };
      promise(of_its_record, word == ABSENT || word / 8 == was)
    }
  :: atomic {
      entry == PLAIN -> d_step { was = entry_rec; word = entry_word };
      promise(of_its_record, word / 8 == was)
    }
  :: atomic { entry == NONE -> word = ABSENT }
  fi
}
inline close(word, dirty) {
  if
  :: entry == BOUND ->
    if
    :: dirty ->
      w0 = word; w1 = word;
      if :: word != ABSENT -> rec = word / 8 :: else fi
    :: else
    fi;
#ifndef OPEN_NOT_BUSY
    version++
#endif
  :: entry != BOUND && dirty ->
    d_step {
      entry_word = word; entry_rec = word / 8;
      if :: word == ABSENT -> entry = NONE; entry_word = 0; entry_rec = 0
         :: else -> entry = PLAIN fi
    }
  :: else
  fi;
  d_step { stripe = false; word = 0; was = 0; dirty = 0 }
}
#define USED(w) (w == ABSENT -> 0 : w % 8)

/* A check by key: CheckAlone under the record `mine`. */
inline check_by_key(mine, word, was, dirty) {
  open(word, was);
  if
  :: atomic {
      USED(word) < CAP ->
      d_step { word = USED(word) + 1 + 8 * mine; dirty = true };
      grant()
    }
  :: else
  fi;
  close(word, dirty)
}

proctype Handle(byte checks) {
  byte v, r, a, b, n, word, was;
  bool dirty;
  bind(0);
  do
  :: n == checks -> break
  :: else ->
again:
    atomic { version % 2 == 0 -> touch(v = version) };
#ifdef RETRY_STALE
retry: skip;
#endif
    touch(r = rec); touch(a = w0); touch(b = w1);
#ifndef NO_SECOND_READ
    if :: version != v ->
#ifdef RETRY_STALE
          goto retry
#else
          goto again
#endif
       :: else fi;
#endif
    promise(whole, a == b);
    promise(of_its_record, a == ABSENT || a / 8 == r);
    if
    :: r != 0 -> check_by_key(0, word, was, dirty)
    :: r == 0 && USED(a) < CAP ->
#ifdef PLAIN_STORE
      version = v + 1;
#else
      atomic { if :: version == v -> touch(version++) :: else -> goto again fi };
#endif
      a = USED(a) + 1;
      touch(w0 = a); touch(w1 = a);
      d_step { version = v + 2; granted++; within = granted <= CAP;
               assert(within); within = 0 }
    :: else
    fi;
    d_step { n++; v = 0; r = 0; a = 0; b = 0; was = 0 }
  od;
  unbind()
}

/* The calls by key and the sweep hold the stripe's lock, so that one process
   with any order of them stands for as many as there are. */
proctype Calls() {
  byte word, was;
  bool dirty, together, update, refund;
#ifdef CYCLES  /* two calls are enough for a handle to retry */
  refund = true;
#endif
  do
  :: !together ->  /* CheckTogether: the other rule may deny */
    together = true;
    open(word, was);
    if
    :: atomic {
        USED(word) < CAP ->
        d_step { word = USED(word) + 1 + (word == ABSENT -> 0 : 8 * was) };
        dirty = true;
        grant()
      }
    :: true
    fi;
    close(word, dirty)
  :: !update -> update = true; check_by_key(1, word, was, dirty)
  :: !refund ->    /* the state stays, equal to a fresh key's if all is free */
    refund = true;
    open(word, was);
    if
    :: USED(word) > 0 -> d_step { word--; dirty = true; granted-- }
    :: else
    fi;
    close(word, dirty)
#ifndef CYCLES
  :: atomic { !stripe -> examine() }
#endif
  :: together && update && refund -> break
  od
}

init {
  atomic { run Handle(1); run Handle(1); run Calls() };
  (_nr_pr == 1);
  /* Nothing is lost, and no cell is left. */
  promise(state_kept, !alive && handles == 0 &&
          granted == (entry == NONE -> 0 : entry_word % 8))
}
