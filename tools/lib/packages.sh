# Which Debian packages a command needs, and how the missing ones come.
# Sourced by plain sh, after say.sh.
#
#   want required "g++" "nothing can be built"
#   want optional "clang-14 clang" "no clang build"
#   install_wanted LOG
#   has clang-14 clang && ...
#
# The second argument names alternatives: one that is installed does; else the
# first that apt knows is installed. The third says what goes without it.
# apt is asked for nothing while nothing is missing.

wanted=''      # lines: level|alternatives|what goes without it
not_to_be_had=''

want() {
  wanted="$wanted$1|$2|$3
"
}

is_installed() {
  case $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) in
    installed) return 0 ;;
    *) return 1 ;;
  esac
}

# has NAME...: is one of these packages there?
has() {
  # Without dpkg nothing can be said; CMake will say what it does not find.
  command -v dpkg-query >/dev/null 2>&1 || return 0
  for has_name in "$@"; do
    is_installed "$has_name" && return 0
  done
  return 1
}

# Prints the alternative to install: the first that apt can give.
choose() {
  for choose_name in "$@"; do
    choose_version=$(apt-cache policy "$choose_name" 2>/dev/null |
      sed -n 's/^  Candidate: //p')
    case $choose_version in
      '' | '(none)') ;;
      *)
        printf '%s' "$choose_name"
        return
        ;;
    esac
  done
}

# apt LOG ARGUMENT...: apt-get as root, waiting for another one to finish.
apt() {
  apt_log=$1
  shift
  set -- env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    -o DPkg::Lock::Timeout=300 "$@"
  [ "$(id -u)" -eq 0 ] || set -- sudo "$@"
  "$@" </dev/null >>"$apt_log" 2>&1
}

# Says what goes without the packages in $1, and stops if it was required.
go_without() {
  if [ "$1" = required ]; then
    complain "cannot install $2: $3"
    required_is_missing=yes
  else
    complain "cannot install $2, so this run goes without it: $3"
    not_to_be_had="$not_to_be_had $2"
  fi
}

missing_lines() {
  printf '%s' "$wanted" | while IFS='|' read -r level names without; do
    # shellcheck disable=SC2086
    has $names || printf '%s|%s|%s\n' "$level" "$names" "$without"
  done
}

# install_wanted LOG: installs what is missing. LOG takes what apt-get prints.
# Leaves the names of optional packages that cannot be had in $not_to_be_had.
install_wanted() {
  install_log=$1
  missing=$(missing_lines)
  [ -n "$missing" ] || return 0
  required_is_missing=no

  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
    complain 'some packages are missing, and there is neither root nor sudo'
  elif ! command -v apt-get >/dev/null 2>&1; then
    complain 'some packages are missing, and there is no apt-get'
  elif can_apt_help; then
    say 'reading the list of packages (apt-get update)'
    apt "$install_log" update ||
      complain "apt-get update failed (see $install_log); trying without"
    install_missing
  fi

  # What is still missing now.
  missing=$(missing_lines)
  while IFS='|' read -r level names without; do
    [ -n "$level" ] && go_without "$level" "${names%% *}" "$without"
  done <<END
$missing
END
  [ "$required_is_missing" = no ] || {
    [ -s "$install_log" ] && tail -n 5 "$install_log" >&2
    exit 1
  }
}

# Not where only optional packages are missing that this release is known not
# to have: asking for a newer list each time would change nothing.
can_apt_help() {
  ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 || return 0
  while IFS='|' read -r level names without; do
    [ "$level" = optional ] || return 0
    # shellcheck disable=SC2086
    [ -z "$(choose $names)" ] || return 0
  done <<END
$missing
END
  return 1
}

install_missing() {
  to_install=''
  while IFS='|' read -r level names without; do
    # shellcheck disable=SC2086
    to_install="$to_install $(choose $names)"
  done <<END
$missing
END
  # shellcheck disable=SC2086
  set -- $to_install
  [ $# -gt 0 ] || return 0
  say "installing $# packages with apt-get: $*"
  apt "$install_log" install --no-install-recommends "$@" && return 0
  # One that fails must not take the others with it.
  for install_name in "$@"; do
    apt "$install_log" install --no-install-recommends "$install_name" || true
  done
}
