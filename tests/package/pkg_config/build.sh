#!/bin/sh
# build.sh STANDARD OUTPUT [pkg-config option]: how a Makefile would build a
# program on weir. PKG_CONFIG_PATH says where weir.pc is, and LD_RUN_PATH tells
# the linker where the program will find a shared weir.
set -eu
standard=$1
output=$2
shift 2

cflags=$(pkg-config --cflags "$@" weir)
libs=$(pkg-config --libs "$@" weir)
source=$(dirname "$0")/../consumer.cc

# pkg-config's words are to be split here, except that a folder may have spaces
# in its name: it writes those with a backslash, which eval reads back.
eval "${CXX:-c++} -std=c++$standard -DWEIR_EXPECTED_STANDARD=20$standard \
  $cflags \"\$source\" -o \"\$output\" $libs"
