# Finds hiredis, the C client of Redis, and gives the target hiredis::hiredis.
# Debian's hiredis 0.14 brings no target of its own. Installed with weir, whose
# package file uses it too. Hiredis_ROOT says where else to look.
#
# Sets Hiredis_FOUND and Hiredis_VERSION.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_Hiredis QUIET hiredis)
endif()

# The headers are included as <hiredis/hiredis.h>; hiredis.pc names the folder
# below that.
find_path(Hiredis_INCLUDE_DIR hiredis/hiredis.h
          HINTS ${PC_Hiredis_INCLUDEDIR} ${PC_Hiredis_INCLUDEDIR}/..)
find_library(Hiredis_LIBRARY NAMES hiredis HINTS ${PC_Hiredis_LIBDIR})
mark_as_advanced(Hiredis_INCLUDE_DIR Hiredis_LIBRARY)

if(Hiredis_INCLUDE_DIR)
  file(STRINGS "${Hiredis_INCLUDE_DIR}/hiredis/hiredis.h" _hiredis_lines
       REGEX "^#define HIREDIS_(MAJOR|MINOR|PATCH) [0-9]+")
  foreach(_hiredis_part MAJOR MINOR PATCH)
    if(_hiredis_lines MATCHES "HIREDIS_${_hiredis_part} ([0-9]+)")
      set(_hiredis_${_hiredis_part} "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  set(Hiredis_VERSION
      "${_hiredis_MAJOR}.${_hiredis_MINOR}.${_hiredis_PATCH}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hiredis
  REQUIRED_VARS Hiredis_LIBRARY Hiredis_INCLUDE_DIR
  VERSION_VAR Hiredis_VERSION)

if(Hiredis_FOUND AND NOT TARGET hiredis::hiredis)
  add_library(hiredis::hiredis UNKNOWN IMPORTED)
  set_target_properties(hiredis::hiredis PROPERTIES
    IMPORTED_LOCATION "${Hiredis_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Hiredis_INCLUDE_DIR}")
endif()
