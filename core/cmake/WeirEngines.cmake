# The engine list. Reads core/engines/list.txt and writes engine_list.h, which
# includes each engine's header and defines WEIR_FOR_EACH_ENGINE(X), X(Type).
# Stops with a clear message at a name without its C++ half. (The Redis store
# asks for the Lua halves: WeirScripts.cmake.)

# weir_read_engines(OUT_DIR): sets WEIR_ENGINES (names) and
# WEIR_ENGINE_SCRIPTS (name=script) in the caller.
function(weir_read_engines out_dir)
  set(list "${PROJECT_SOURCE_DIR}/core/engines/list.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  file(STRINGS "${list}" lines)
  set(names "")
  set(scripts "")
  set(includes "")
  set(types "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^[ \t]*(#.*)?$")
      continue()
    endif()
    if(NOT line MATCHES
       "^([a-z][a-z0-9_]*)[ \t]+([A-Z][A-Za-z0-9]*)([ \t]+([a-z][a-z0-9_]*))?[ \t]*$")
      message(FATAL_ERROR
        "core/engines/list.txt: cannot read the line \"${line}\"; wanted: "
        "name Type [lua_half]")
    endif()
    set(name "${CMAKE_MATCH_1}")
    set(type "${CMAKE_MATCH_2}")
    set(script "${CMAKE_MATCH_4}")
    if(script STREQUAL "")
      set(script "${name}")
    endif()
    if(name IN_LIST names)
      message(FATAL_ERROR "core/engines/list.txt: engine ${name} stands twice")
    endif()
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/core/engines/${name}.h")
      message(FATAL_ERROR
        "engine ${name} has no C++ half: core/engines/list.txt names it, but "
        "core/engines/${name}.h is missing")
    endif()
    list(APPEND names "${name}")
    list(APPEND scripts "${name}=${script}")
    string(APPEND includes "#include \"core/engines/${name}.h\"\n")
    string(APPEND types " \\\n  X(::weir::engines::${type})")
  endforeach()
  file(CONFIGURE OUTPUT "${out_dir}/engine_list.h" CONTENT
"// Made from core/engines/list.txt.
#ifndef WEIR_ENGINE_LIST_H_
#define WEIR_ENGINE_LIST_H_

${includes}
#define WEIR_FOR_EACH_ENGINE(X)${types}

#endif  // WEIR_ENGINE_LIST_H_
" @ONLY)
  set(WEIR_ENGINES "${names}" PARENT_SCOPE)
  set(WEIR_ENGINE_SCRIPTS "${scripts}" PARENT_SCOPE)
endfunction()
