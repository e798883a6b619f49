# Finds hiredis, the C client of Redis, and gives the target hiredis::hiredis.
# Debian's hiredis 0.14 brings no target of its own. Installed with weir, whose
# package file uses it too. Looks first where CMAKE_PREFIX_PATH, Hiredis_ROOT and
# PKG_CONFIG_PATH say.
#
# Sets Hiredis_FOUND and Hiredis_VERSION, and Hiredis_MISMATCH if headers and
# library were found that are not of one version.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_Hiredis QUIET hiredis)
endif()

# The headers are included as <hiredis/hiredis.h>; hiredis.pc names the folder
# below that.
find_path(Hiredis_INCLUDE_DIR hiredis/hiredis.h
          HINTS ${PC_Hiredis_INCLUDEDIR} ${PC_Hiredis_INCLUDEDIR}/..)
# Beside the headers, before where the system has another.
find_library(Hiredis_LIBRARY NAMES hiredis
             HINTS "${Hiredis_INCLUDE_DIR}/.." ${PC_Hiredis_LIBDIR}
             PATH_SUFFIXES lib64 lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
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

# What a reader is made of has changed with 1.0, which brought this function: the
# headers of one with the library of the other would build, and corrupt memory.
unset(Hiredis_MISMATCH)
if(Hiredis_INCLUDE_DIR AND Hiredis_LIBRARY)
  file(STRINGS "${Hiredis_LIBRARY}" _hiredis_new
       REGEX "hiredisSetAllocators" LIMIT_COUNT 1)
  if(Hiredis_VERSION VERSION_LESS 1.0 AND _hiredis_new)
    set(Hiredis_MISMATCH "1.0 or newer")
  elseif(NOT Hiredis_VERSION VERSION_LESS 1.0 AND NOT _hiredis_new)
    set(Hiredis_MISMATCH "older than 1.0")
  endif()
  if(Hiredis_MISMATCH)
    set(Hiredis_MISMATCH
        "${Hiredis_INCLUDE_DIR}/hiredis is hiredis ${Hiredis_VERSION}, but \
${Hiredis_LIBRARY} is ${Hiredis_MISMATCH}")
    # Looked for again once that is mended.
    unset(Hiredis_LIBRARY CACHE)
    unset(Hiredis_INCLUDE_DIR CACHE)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hiredis
  REQUIRED_VARS Hiredis_LIBRARY Hiredis_INCLUDE_DIR
  VERSION_VAR Hiredis_VERSION
  REASON_FAILURE_MESSAGE "${Hiredis_MISMATCH}")

if(Hiredis_FOUND AND NOT TARGET hiredis::hiredis)
  add_library(hiredis::hiredis UNKNOWN IMPORTED)
  set_target_properties(hiredis::hiredis PROPERTIES
    IMPORTED_LOCATION "${Hiredis_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Hiredis_INCLUDE_DIR}")
endif()
