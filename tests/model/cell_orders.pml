/* The memory orders of BoundCell, as C++ has them without load buffering: a
   location is the list of its stores, in order; a thread has, for each location,
   the oldest store that it may still read, and may read any newer one. A release
   store carries its thread's view; an acquire load takes it over; a relaxed one
   takes over nothing. A compare-and-swap reads the newest store, and hands on
   the view of what it read. The stripe's lock is left out: more is allowed. */
#define CAP 2
#define N 9     /* stores to a location, the first one included */
#define V 0     /* version, record, two words */
#define R 1
#define W0 2
#define W1 3
typedef View { byte at[4] };
typedef Location { byte val[N]; byte last };
Location loc[4];
View sent[36];  /* of the store i to location x: sent[x * N + i] */
byte granted;
bool whole, of_its_record, within, state_kept;

#define RLX 0
#define ACQ 1
#define REL 1
#ifdef RELAXED_LOADS
#define WORD_LOAD RLX
#else
#define WORD_LOAD ACQ
#endif
#ifdef RELAXED_RECORD_LOAD
#define RECORD_LOAD RLX
#else
#define RECORD_LOAD ACQ
#endif
#ifdef RELAXED_STORES
#define WORD_STORE RLX
#else
#define WORD_STORE REL
#endif
#ifdef RELAXED_RECORD_STORE
#define RECORD_STORE RLX
#else
#define RECORD_STORE REL
#endif
#ifdef RELAXED_VERSION
#define VERSION_LOAD RLX
#else
#define VERSION_LOAD ACQ
#endif
#ifdef RELAXED_LOCK
#define LOCK_ORDER RLX
#else
#define LOCK_ORDER ACQ
#endif
#ifdef RELAXED_UNLOCK
#define UNLOCK_ORDER RLX
#else
#define UNLOCK_ORDER REL
#endif

inline promise(name, what) { d_step { name = (what); assert(name); name = 0 } }
inline join1(s, k) {
  if :: sent[s].at[k] > my.at[k] -> my.at[k] = sent[s].at[k] :: else fi
}
inline join(s) { join1(s, 0); join1(s, 1); join1(s, 2); join1(s, 3) }
inline load(x, to, order) {
  atomic {
    i = my.at[x];
    do :: i < loc[x].last -> i++ :: break od;
    d_step {
      my.at[x] = i; to = loc[x].val[i];
      if :: order -> join(x * N + i) :: else fi; i = 0
    }
  }
}
inline send(x) {
  sent[x * N + loc[x].last].at[0] = my.at[0];
  sent[x * N + loc[x].last].at[1] = my.at[1];
  sent[x * N + loc[x].last].at[2] = my.at[2];
  sent[x * N + loc[x].last].at[3] = my.at[3]
}
inline store(x, value, order) {
  d_step {
    loc[x].last++; loc[x].val[loc[x].last] = value; my.at[x] = loc[x].last;
    if :: order -> send(x) :: else fi
  }
}
inline cas() {  /* the version is even and the one wanted */
  i = loc[V].last;
  my.at[V] = i + 1; loc[V].last = i + 1; loc[V].val[i + 1] = loc[V].val[i] + 1;
  sent[V * N + i + 1].at[0] = sent[V * N + i].at[0];
  sent[V * N + i + 1].at[1] = sent[V * N + i].at[1];
  sent[V * N + i + 1].at[2] = sent[V * N + i].at[2];
  sent[V * N + i + 1].at[3] = sent[V * N + i].at[3];
  if :: LOCK_ORDER -> join(V * N + i) :: else fi;
  i = 0
}
inline grant() { d_step { granted++; within = granted <= CAP; assert(within); within = 0 } }

proctype Handle() {
  View my;
  byte v, v2, r, a, b, i;
again:
  load(V, v, VERSION_LOAD);
  if :: v % 2 == 1 -> goto again :: else fi;
  load(R, r, RECORD_LOAD);
  load(W0, a, WORD_LOAD);
  load(W1, b, WORD_LOAD);
  load(V, v2, RLX);
  if :: v2 != v -> goto again :: else fi;
  promise(whole, a == b);
  promise(of_its_record, a / 8 == r);
  if
  :: r == 0 && a % 8 < CAP ->
    atomic {
      if :: loc[V].val[loc[V].last] != v -> goto again
         :: else -> d_step { cas() } fi
    };
    store(W0, a + 1, WORD_STORE); store(W1, a + 1, WORD_STORE);
    grant();
    store(V, v + 2, UNLOCK_ORDER)
  :: else
  fi
}

/* OpenCell and CloseCell under the record `mine`. */
proctype Open(byte mine) {
  View my;
  byte v, r, a, b, i;
  atomic {
    loc[V].val[loc[V].last] % 2 == 0 ->
    d_step { v = loc[V].val[loc[V].last]; cas() }
  };
  load(R, r, RECORD_LOAD); load(W0, a, WORD_LOAD); load(W1, b, WORD_LOAD);
  promise(whole, a == b);
  promise(of_its_record, a / 8 == r);
  if
  :: a % 8 < CAP ->
    a = a % 8 + 1 + 8 * mine;
    store(W0, a, WORD_STORE); store(W1, a, WORD_STORE);
    store(R, mine, RECORD_STORE);
    grant()
  :: else
  fi;
  store(V, v + 2, UNLOCK_ORDER)
}

init {
  atomic { run Handle(); run Handle(); run Open(1); run Open(0) };
  (_nr_pr == 1);
  promise(state_kept, loc[W0].val[loc[W0].last] % 8 == granted)
}
