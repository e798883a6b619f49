#!/bin/sh
# run.sh MODEL FOLDER [MUTANT]: tries every interleaving; a mutant must fail.
set -eu
model=$1 folder=$2 mutant=${3:-}
mkdir -p "$folder" && cd "$folder"
rm -f pan ./*.trail
spin -a ${mutant:+-D$mutant} "$model"
cc -O2 -DSAFETY -DMEMLIM=900 -o pan pan.c
./pan -m100000 >pan.log
cat pan.log
grep -q 'max search depth too small' pan.log && exit 1
if [ -n "$mutant" ]; then
  grep -q 'assertion violated\|invalid end state' pan.log
else
  grep -q 'errors: 0' pan.log
fi
