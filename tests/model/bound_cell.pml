/* The cell of a bound key (backends/memory/bound_cell.h), sequentially
   consistent: a handle, a call with two rules, an eviction and an Update.
   A word is what is used plus 8 times the record that it was written under. */
#define CAP 2
byte version, rec, w0, w1, other, granted, granted_other;
bool stripe, entry = true;

inline lock_stripe() { atomic { !stripe -> stripe = true } }   /* SpinLock */
inline unlock_stripe() { stripe = false }
inline lock_cell() { atomic { version % 2 == 0 -> version++ } } /* Lock */
inline unlock_cell() { version++ }                             /* Unlock */
inline store(x) { w0 = x; w1 = x }                             /* Store */

/* CheckCell, and CheckByKey where the record is another. */
proctype Handle() {
  byte v, r, a, b, n;
  do
  :: n == 2 -> break
  :: else ->
    atomic { version % 2 == 0 -> v = version };
    r = rec; a = w0; b = w1;
#ifndef NO_SECOND_READ
    if :: version != v -> goto again :: else fi;
#endif
    assert(a == b && a / 8 == r);  /* whole, and of its record */
    if
    :: r != 0 ->
      lock_stripe(); lock_cell();
      if :: w0 % 8 < CAP -> a = w0 + 1; store(a); granted++ :: else fi;
      unlock_cell(); unlock_stripe()
    :: r == 0 && a % 8 < CAP ->
#ifdef PLAIN_STORE
      version = v + 1;
#else
      atomic { if :: version == v -> version++ :: else -> goto again fi };
#endif
      a++; store(a); version = v + 2; granted++
    :: else
    fi;
    n++;
again: skip
  od
}

/* CheckTogether: OpenCell, evaluate all, charge all or none, CloseCell. */
proctype TwoRules() {
  byte c;
  lock_stripe();
  if
  :: entry ->
    lock_cell();
    if
    :: w0 % 8 < CAP && other < 1 ->
      c = w0 + 1; other++; store(c); granted++; granted_other++
    :: else
    fi;
    unlock_cell()
  :: else -> granted++; granted_other++; other++  /* a fresh key */
  fi;
  unlock_stripe()
}

/* Keeper: passes by bound entries. */
proctype Evict() {
  lock_stripe();
#ifdef EVICT_BOUND
  entry = false;
#endif
  unlock_stripe()
}

/* A call by key under the new record: carries the state over. */
proctype Update() {
  byte u;
  lock_stripe();
#ifndef UPDATE_NOT_BUSY
  lock_cell();
#endif
  u = w0 % 8 + 8; store(u); rec = 1;
#ifndef UPDATE_NOT_BUSY
  unlock_cell();
#endif
  unlock_stripe()
}

init {
  atomic { run Handle(); run Handle(); run TwoRules(); run Evict(); run Update() };
  (_nr_pr == 1);
  assert(granted <= CAP && granted_other == other && other <= 1);
  assert(!entry || w0 % 8 == granted)
}
