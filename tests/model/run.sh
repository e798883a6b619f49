#!/bin/sh
# run.sh MODEL FOLDER [-l] [MUTANT PROMISE]: tries every interleaving. A mutant
# must break the promise that is named, and no other. -l: looks for cycles, which
# are retries that nobody else's step paid for.
set -eu
model=$1 folder=$2
shift 2
how=-DSAFETY search= found='assertion violated'
if [ "${1:-}" = -l ]; then
  how=-DNP search=-l found='non-progress cycle'
  shift
fi
mutant=${1:-} promise=${2:-}
mkdir -p "$folder" && cd "$folder"
rm -f pan ./*.trail
spin -a ${search:+-DCYCLES} ${mutant:+-D$mutant} "$model"
# A mutant is found soon: compiling is what it costs.
fast=-O1 table=-w22
[ -z "$mutant" ] || fast=-O0 table=-w16
cc $fast -w $how -DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM=900 -o pan pan.c
./pan -m10000 $table $search >pan.log
cat pan.log
if [ -n "$mutant" ]; then
  grep -q "^pan:1: $found *(*$promise" pan.log
else
  if grep -q 'depth too small\|not completed' pan.log; then exit 1; fi
  grep -q 'errors: 0' pan.log
fi
