# What the commands in tools/ print. Sourced by plain sh.

say() {
  printf '%s\n' "$*"
}

# Goes to stderr, with the command's name in front.
complain() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# Wrong usage: exit code 2.
usage_error() {
  complain "$*"
  complain "try: $0 --help"
  exit 2
}

die() {
  complain "$*"
  exit 1
}

# now: seconds, for durations that are only printed.
now() {
  date +%s
}

# took START: "1 min 05 s".
took() {
  took_s=$(($(now) - $1))
  if [ "$took_s" -ge 60 ]; then
    printf '%d min %02d s' $((took_s / 60)) $((took_s % 60))
  else
    printf '%d s' "$took_s"
  fi
}
