# Configures and builds weir below build/ in the checkout. Sourced by plain sh,
# after say.sh; $root is the checkout. Quiet when all is well: on a terminal
# Ninja's one line moves, elsewhere everything goes to a log that is shown when
# something fails.

# How many jobs: one a core, and not more than the memory bears.
jobs_for_this_machine() {
  jobs=$(nproc 2>/dev/null || echo 1)
  memory_kb=$(sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo \
    2>/dev/null)
  fit=$((${memory_kb:-4000000} / 1200000))
  [ "$fit" -ge 1 ] || fit=1
  [ "$jobs" -le "$fit" ] || jobs=$fit
  printf '%s' "$jobs"
}

# configure DIR OPTION...
configure() {
  configure_dir=$1
  shift
  mkdir -p "$configure_dir"
  # A checkout that was moved or copied with its build folder.
  if [ -f "$configure_dir/CMakeCache.txt" ] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" \
      "$configure_dir/CMakeCache.txt"; then
    rm -rf "$configure_dir"
    mkdir -p "$configure_dir"
  fi
  # What ccache needs to know precompiled headers again.
  CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  export CCACHE_SLOPPINESS
  launcher=
  command -v ccache >/dev/null 2>&1 && launcher=ccache
  if ! cmake -S "$root" -B "$configure_dir" -G Ninja \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" "$@" \
    >"$configure_dir/configure.log" 2>&1; then
    cat "$configure_dir/configure.log" >&2
    return 1
  fi
}

# build DIR [TARGET...]: $runner, if set, is put in front.
build() {
  build_dir=$1
  shift
  if [ $# -gt 0 ]; then
    set -- --target "$@"
  fi
  set -- ${runner:-} cmake --build "$build_dir" -j "$(jobs_for_this_machine)" \
    "$@"
  if [ -t 1 ]; then
    NINJA_STATUS='  [%f/%t] ' "$@"
    return
  fi
  if ! "$@" >"$build_dir/build.log" 2>&1; then
    grep -A 60 -m 1 '^FAILED:' "$build_dir/build.log" >&2 ||
      tail -n 40 "$build_dir/build.log" >&2
    complain "the whole log: $build_dir/build.log"
    return 1
  fi
}
