#!/bin/sh
# build.sh STANDARD MODULE SOURCE OUTPUT [pkg-config option]: how a Makefile would
# build a program on MODULE. PKG_CONFIG_PATH says where weir.pc is, and LD_RUN_PATH
# tells the linker where the program will find a shared weir.
set -eu
standard=$1
module=$2
source=$3
output=$4
shift 4

cflags=$(pkg-config --cflags "$@" "$module")
libs=$(pkg-config --libs "$@" "$module")

# pkg-config's words are to be split here, except that a folder may have spaces
# in its name: it writes those with a backslash, which eval reads back.
eval "${CXX:-c++} -std=c++$standard -DWEIR_EXPECTED_STANDARD=20$standard \
  $cflags \"\$source\" -o \"\$output\" $libs"
