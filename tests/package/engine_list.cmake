# A name in core/engines/list.txt without its header, or, where the Redis store
# is built, without its Lua half, a line that cannot be
# read and a name that stands twice stop the configuration with a message that
# says so. CASE says what is done to a copy of the tree; `untouched` shows that
# the copy configures.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

file(REMOVE_RECURSE "${WORK}")
file(COPY "${SOURCE}/CMakeLists.txt" "${SOURCE}/core" "${SOURCE}/backends"
  DESTINATION "${WORK}/tree")
if(EXISTS "${SOURCE}/lua")
  file(COPY "${SOURCE}/lua" DESTINATION "${WORK}/tree")
endif()

set(list "${WORK}/tree/core/engines/list.txt")
set(expected "")
if(CASE STREQUAL "no_header")
  file(APPEND "${list}" "\nno_such_engine  NoSuchEngine\n")
  set(expected "no_such_engine.*core/engines/no_such_engine\\.h")
elseif(CASE STREQUAL "no_lua")
  file(REMOVE "${WORK}/tree/lua/fixed_window.lua")
  set(expected "fixed_window.*lua/fixed_window\\.lua is missing")
elseif(CASE STREQUAL "unreadable")
  file(APPEND "${list}" "\nNot-A-Name\n")
  set(expected "core/engines/list\\.txt.*Not-A-Name")
elseif(CASE STREQUAL "twice")
  file(APPEND "${list}" "\ngcra  Gcra\n")
  set(expected "core/engines/list\\.txt.*gcra.*twice")
endif()

configure_expecting("${expected}" -S "${WORK}/tree" -B "${WORK}/build"
  -DWEIR_BUILD_CLI=OFF -DWEIR_BUILD_LIMITS_JSON=OFF -DWEIR_BUILD_TESTS=OFF)
