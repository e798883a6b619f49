# weir_library(TARGET): what holds for each library of weir's that users link,
# whatever a project says of all of its targets that takes weir in.

function(weir_library target)
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    POSITION_INDEPENDENT_CODE ON)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    # No header marks what it exports: weir.map does. An archive stays as hidden
    # as its user wants it.
    set_target_properties(${target} PROPERTIES
      CXX_VISIBILITY_PRESET default
      VISIBILITY_INLINES_HIDDEN OFF)
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
      set(map "${PROJECT_SOURCE_DIR}/core/cmake/weir.map")
      target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
      set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
    endif()
  endif()
endfunction()
