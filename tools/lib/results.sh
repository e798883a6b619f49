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

# count_junit LEG FILE RESULTS: adds the tests of a file that ctest
# --output-junit wrote, and names those that did not pass. A test that is a whole
# program has written its cases to RESULTS/NAME.xml; one that ended badly though
# none of its cases failed counts as failed. A test whose program or fixture is
# missing has failed, though ctest calls it skipped. Two skips are right: one
# says "no data", the real traffic is not part of the checkout; the other "not
# for this store", a law that asks what a store can not tell.
count_junit() {
  counts=$(awk -v leg="$1" -v results="$3" '
    function fail(what) {
      ++f
      print leg ": FAILED " what > "/dev/stderr"
    }
    function skip(what, reason) {
      ++s
      if (reason ~ /^(no data|not for this store)/) return
      ++w
      print leg ": skipped " what " (" reason ")" > "/dev/stderr"
    }
    function attribute(line, name) {
      if (!match(line, " " name "=\"[^\"]*\"")) return ""
      return substr(line, RSTART + length(name) + 3, RLENGTH - length(name) - 4)
    }
    # The cases that a program wrote: how many, or 0 if it wrote none.
    function cases(file,    line, title, was_red, n) {
      while ((getline line < file) > 0) {
        if (line ~ /^ *<testcase /) {
          title = attribute(line, "classname") "." attribute(line, "name")
          was_red = 0
          if (attribute(line, "result") != "completed") continue
          ++n
          ++p
        } else if (line ~ /^ *<failure / && !was_red) {
          was_red = 1
          --p
          fail(title)
        } else if (line ~ /^ *<skipped /) {
          ++n
          sub(/^[^&]*&#x0A;/, "", line)
          sub(/(&#x0A;|").*/, "", line)
          skip(title, line)
        }
      }
      close(file)
      return n + 0
    }
    function finish(    before) {
      if (name == "") return
      before = f
      if (cases(results "/" name ".xml") > 0) {
        if (status != "run" && f == before) fail(name " (it ended badly)")
      } else if (status == "run") ++p  # or failed, as it should
      else if (status == "notrun" && by_test && !red) skip(name, reason)
      else fail(name)
      name = ""
    }
    /^\t<testcase / {
      name = attribute($0, "name")
      status = attribute($0, "status")
      by_test = red = after_skip = 0; reason = status
    }
    /^\t\t<skipped message="SKIP_/ { by_test = 1 }
    /^\[  FAILED  \]/ { red = 1 }
    after_skip { reason = $0; after_skip = 0 }
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
