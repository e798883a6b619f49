# What find_package(weir) answers with the copy of KIND in PREFIX where neither
# hiredis nor OpenSSL can be found. CASE:
#
#   named    an archive of weir::redis needs them, and says so; a shared one
#            does not need them
#   unnamed  what is not here is told, unless QUIET
#   unknown  a part that no copy has
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

set(missing "weir::redis needs hiredis 0\\.14 \\(libhiredis-dev\\)")
set(here "here: weir::redis")
if(KIND STREQUAL "shared")
  set(missing "${here}")
endif()

# ask(RESULT PATTERN HOW...): find_package(weir 0.1 HOW...) ends with RESULT (0
# or 1) and words that match PATTERN and hold no list.
function(ask expected pattern)
  file(REMOVE_RECURSE "${WORK}")
  execute_process(COMMAND ${configure}
      -S "${CMAKE_CURRENT_LIST_DIR}/components" -B "${WORK}"
      "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DHOW=${ARGN}"
      -DCMAKE_DISABLE_FIND_PACKAGE_Hiredis=ON
      -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(NOT result EQUAL expected OR NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "find_package(weir 0.1 ${ARGN}): ${result} with\n"
                        "${output}\nexpected: ${expected} with ${pattern}")
  endif()
  if(output MATCHES "[^ ]*;[^ ]*")
    message(FATAL_ERROR "a list is shown: ${CMAKE_MATCH_0} in ${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

if(CASE STREQUAL "named" AND KIND STREQUAL "static")
  ask(1 "${missing}" REQUIRED COMPONENTS redis)
elseif(CASE STREQUAL "named")
  ask(0 "${here}" REQUIRED COMPONENTS redis)
elseif(CASE STREQUAL "unnamed")
  ask(0 "${missing}" REQUIRED)
  ask(0 "${missing}" OPTIONAL_COMPONENTS redis)
  ask(0 "" REQUIRED QUIET)
  if(output MATCHES "hiredis")
    message(FATAL_ERROR "not quiet: ${output}")
  endif()
elseif(CASE STREQUAL "unknown")
  ask(1 "this copy of weir was built without nonsense" REQUIRED
    COMPONENTS nonsense)
endif()
