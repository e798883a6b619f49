# The checks of leg clang that are not a build. Sourced by plain sh, after
# say.sh, build.sh and results.sh; $root is the checkout, $out the place for
# what is made.

# newest_tool COMMAND PACKAGE...: the command to call, of the package that is
# there: clang++-14 for clang-14. Nothing if none is.
newest_tool() {
  tool=$1
  shift
  for tool_package in "$@"; do
    case $tool_package in
      *-[0-9]*) tool_name=$tool-${tool_package##*-} ;;
      *) tool_name=$tool ;;
    esac
    if command -v "$tool_name" >/dev/null 2>&1; then
      printf '%s' "$tool_name"
      return
    fi
  done
}

# Every C++ file of the project; what is below build*/ is not.
cxx_files() {
  (cd "$root" && find core backends bench tests tools docs -type f \
    \( -name '*.cc' -o -name '*.h' \) 2>/dev/null | sort)
}

check_format() {
  format=$(newest_tool clang-format clang-format-14)
  if [ -z "$format" ]; then
    count_skip 'the check of the format: there is no clang-format-14'
    return
  fi
  say 'clang: the format'
  if (cd "$root" && cxx_files | tr '\n' '\0' |
    xargs -0 "$format" --dry-run -Werror --style=file) \
    >"$out/format.log" 2>&1; then
    count_pass
  else
    grep 'error:' "$out/format.log" | cut -d: -f1 | sort | uniq -c >&2
    count_failure "the format; clang-format-14 -i mends it ($out/format.log)"
  fi
}

# What clang-tidy reads: all that is compiled in a build folder.
tidy_inputs() {
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$1/compile_commands.json" | sort
}

# The sources that such a file stands for: its own, or those that CMake joined.
tidy_sources() {
  case $1 in
    */Unity/*) sed -n 's/^#include "\(.*\)"$/\1/p' "$1" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

# check_tidy BUILD_DIR [OPTION]: clang-tidy over what is configured there, each
# file that is compiled a check. One that was clean and has not changed since,
# nor any header, is not read again.
check_tidy() {
  tidy=$(newest_tool clang-tidy clang-tidy-14 clang-tidy)
  if [ -z "$tidy" ]; then
    count_skip 'clang-tidy: it is not there'
    return
  fi
  say 'clang: clang-tidy over core/ and backends/'
  tidy_start=$(now)
  tidy_option=${2:---checks=}
  headers=$(cd "$root" && {
    "$tidy" --version
    echo "$tidy_option"
    cat .clang-tidy core/engines/list.txt
    find core backends -name '*.h' -type f | sort | xargs cat
  } | cksum)
  tidy_inputs "$1" >"$1/inputs"
  while read -r input; do
    key=$({
      echo "$headers"
      tidy_sources "$input" | tr '\n' '\0' | xargs -0 cat
    } | cksum)
    stamp=$(tidy_stamp "$1" "$input")
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ] && continue
    printf '%s\0%s\0%s\0' "$input" "$stamp" "$key"
  done <"$1/inputs" >"$1/todo"
  # Each job leaves the stamp if the file was clean.
  # shellcheck disable=SC2016
  (cd "$root" && xargs -0 -r -n 3 -P "$(jobs_for_this_machine)" sh -c '
    rm -f "$5"
    if "$1" -p "$2" --quiet "$3" "$4" >"$5.log" 2>&1; then
      printf "%s\n" "$6" >"$5"
    fi' sh "$tidy" "$1" "$tidy_option" <"$1/todo") || true
  while read -r input; do
    stamp=$(tidy_stamp "$1" "$input")
    if [ -f "$stamp" ]; then
      count_pass
    else
      grep -v 'warnings generated' "$stamp.log" >&2 || true
      count_failure "clang-tidy $input"
    fi
  done <"$1/inputs"
  say "  done in $(took "$tidy_start")"
}

# tidy_stamp BUILD_DIR INPUT: where it is noted that a file was clean.
tidy_stamp() {
  printf '%s/%s.clean' "$1" \
    "$(printf '%s' "${2#"$root"/}" | tr '/' '_')"
}
