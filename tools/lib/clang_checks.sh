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

# check_tidy BUILD_DIR [OPTION]: clang-tidy over the sources of the libraries,
# each of them a check. One that was clean and has not changed since, nor any
# header, is not read again.
check_tidy() {
  tidy=$(newest_tool clang-tidy clang-tidy-14 clang-tidy)
  if [ -z "$tidy" ]; then
    count_skip 'clang-tidy: it is not there'
    return
  fi
  say 'clang: clang-tidy over core/ and backends/'
  tidy_start=$(now)
  tidy_dir="$out/tidy"
  tidy_option=${2:---checks=}
  mkdir -p "$tidy_dir"
  headers=$(cd "$root" && {
    "$tidy" --version
    echo "$tidy_option"
    cat .clang-tidy core/engines/list.txt
    find core backends -name '*.h' -type f | sort | xargs cat
  } | cksum)
  (cd "$root" && find core backends -name '*.cc' -type f | sort) |
    while read -r source; do
      key=$({ echo "$headers" && cat "$root/$source"; } | cksum)
      stamp="$tidy_dir/$(printf '%s' "$source" | tr '/' '_').clean"
      [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$key" ] && continue
      printf '%s\0%s\0%s\0' "$source" "$stamp" "$key"
    done >"$tidy_dir/todo"
  # Each job leaves the stamp if the file was clean.
  # shellcheck disable=SC2016
  (cd "$root" && xargs -0 -n 3 -P "$(jobs_for_this_machine)" sh -c '
    rm -f "$5"
    if "$1" -p "$2" --quiet "$3" "$4" >"$5.log" 2>&1; then
      printf "%s\n" "$6" >"$5"
    fi' sh "$tidy" "$1" "$tidy_option" <"$tidy_dir/todo") || true
  for source in $(cd "$root" && find core backends -name '*.cc' -type f | sort)
  do
    stamp="$tidy_dir/$(printf '%s' "$source" | tr '/' '_').clean"
    if [ -f "$stamp" ]; then
      count_pass
    else
      grep -v 'warnings generated' "$stamp.log" >&2 || true
      count_failure "clang-tidy $source"
    fi
  done
  say "  done in $(took "$tidy_start")"
}
