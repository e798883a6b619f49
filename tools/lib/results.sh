# Counts test results over the legs of tools/test. Sourced by plain sh, after
# say.sh.

passed=0
failed=0
skipped=0
# Skips of what could have run here: they fail the run.
wrong_skips=0

# One check that is not ctest's.
count_pass() {
  passed=$((passed + 1))
}

count_failure() {
  failed=$((failed + 1))
  complain "FAILED: $*"
}

# A skip that nobody here could have helped.
count_skip() {
  skipped=$((skipped + 1))
  complain "skipped: $*"
}

count_wrong_skip() {
  count_skip "$@"
  wrong_skips=$((wrong_skips + 1))
}

# count_junit LEG FILE: adds the cases of a file that ctest --output-junit
# wrote, and names those that did not pass. A test whose program or fixture is
# missing has failed, though ctest calls it skipped. Two skips are right: one
# says "no data", the real traffic is not part of the checkout; the other "not
# for this store", a law that asks what a store can not tell.
count_junit() {
  counts=$(awk -v leg="$1" '
    function finish() {
      if (name == "") return
      if (status == "run") ++p
      else if (status == "fail" || red || (status == "notrun" && !by_test)) {
        ++f
        print leg ": FAILED " name > "/dev/stderr"
      } else {
        ++s
        if (!no_data) {
          ++w
          print leg ": skipped " name " (" reason ")" > "/dev/stderr"
        }
      }
      name = ""
    }
    /^\t<testcase / {
      name = $0; sub(/.* name="/, "", name); sub(/" classname=.*/, "", name)
      status = $0; sub(/.* status="/, "", status); sub(/".*/, "", status)
      by_test = no_data = red = after_skip = 0; reason = status
    }
    /^\t\t<skipped message="SKIP_/ { by_test = 1 }
    /^\[  FAILED  \]/ { red = 1 }
    after_skip { reason = $0; if ($0 ~ /^(no data|not for this store)/) no_data = 1; after_skip = 0 }
    /: Skipped$/ { after_skip = 1 }
    /^\t<\/testcase>/ { finish() }
    END { print p + 0, f + 0, s + 0, w + 0 }' "$2")
  # shellcheck disable=SC2086
  set -- $counts
  passed=$((passed + $1))
  failed=$((failed + $2))
  skipped=$((skipped + $3))
  wrong_skips=$((wrong_skips + $4))
  leg_counts="$1 passed, $2 failed, $3 skipped"
  [ $(($1 + $2 + $3)) -gt 0 ]
}
