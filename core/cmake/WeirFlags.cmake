# Flags of weir's own targets. Nothing here reaches a user's target.

option(WEIR_PRECOMPILE
  "Precompile the headers of the tests, and join sources, to build them soon"
  OFF)

# AR(1) and every other double must be rounded alike everywhere. Exceptions of a
# user's clock or engine, and of operator new, pass through weir, which puts right
# what it holds: also for a user who says -fno-exceptions of all else.
function(weir_developer_flags target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-ffp-contract=off>
    $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-fexceptions>)
  if(WEIR_DEVELOPER)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Werror
      $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>)
  endif()
endfunction()

# Several sources at once, since most of a compiler's time goes into headers. That
# each source names what it needs is seen by the builds that do not.
function(weir_join target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# Where they are only built to be tested.
function(weir_joined_when_sanitized target)
  if(WEIR_SANITIZE)
    weir_join(${target})
  endif()
endfunction()

# For the tests, and for the executable's parts, which take longest to optimize: in
# every build that is for tests. Not for a source whose class holds what only that
# source knows: g++ warns of it when it is included.
function(weir_joined_when_tested target)
  if(WEIR_PRECOMPILE)
    weir_join(${target})
  endif()
endfunction()

# For what tests spend their time in: quick under sanitizers, which are slow
# enough. The rest is compiled as the configuration says.
function(weir_quick_when_sanitized target)
  weir_joined_when_sanitized(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Sanitize>:-O1>)
endfunction()

# weir_developer_flags for what judges weir, made to compile soon: assertions are
# long to optimize, and longer where each reference in them is looked at. Both
# are left to the code that is judged, and to the oracle, which computes
# (OPTIMIZE).
function(weir_test_flags target)
  cmake_parse_arguments(T "OPTIMIZE" "" "" ${ARGN})
  weir_developer_flags(${target})
  weir_joined_when_tested(${target})
  if(T_OPTIMIZE)
    weir_quick_when_sanitized(${target})
  else()
    target_compile_options(${target} PRIVATE
      $<$<OR:$<CONFIG:Release>,$<CONFIG:Sanitize>>:-O0>)
  endif()
  if(WEIR_SANITIZE MATCHES "undefined")
    target_compile_options(${target} PRIVATE
      -fno-sanitize=alignment,null,object-size,vptr)
  endif()
endfunction()

# weir_test_headers(TARGET [header...] [REUSE_FROM other]): what every test
# includes, and these, are read once. Not for what is handed out, where each
# file has to say what it needs.
function(weir_test_headers target)
  if(NOT WEIR_PRECOMPILE)
    return()
  endif()
  cmake_parse_arguments(H "" "REUSE_FROM" "" ${ARGN})
  if(H_REUSE_FROM)
    target_precompile_headers(${target} REUSE_FROM ${H_REUSE_FROM})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <atomic> <chrono> <cstdint> <functional> <map> <memory>
      <optional> <string> <string_view> <thread> <utility> <vector>
      <gtest/gtest.h> "${PROJECT_SOURCE_DIR}/core/include/weir/limiter.h"
      ${H_UNPARSED_ARGUMENTS})
  endif()
  # What ccache asks for.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WEIR_SANITIZE})
endif()
