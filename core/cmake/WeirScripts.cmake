# The scripts of the Redis store, composed and with their SHA-1. One text for
# each Lua half (lua/NAME.lua), and one with all of them, for calls of several
# rules:
#
#   head.lua, batch.lua, alone.lua or together.lua, the prelude,
#   engines[i] = NAME.lua ..., run.lua
#
# alone.lua (by usual.lua) and together.lua hold what the lines "-- Check:" and
# "-- Charge:" of NAME.lua name; an engine without them has only its half. What
# the line "-- Fields:" of a check names, doubles from byte 19 of the step on, is
# read by alone.lua, and in together.lua right before the check.
#
# weir_write_scripts(OUT): writes the header OUT.

set(WEIR_LUA_PRELUDE math record word_view log_view list_log)

# weir_read_lua(NAME OUT): a part, and configures anew when it changes.
function(weir_read_lua name out)
  set(path "${PROJECT_SOURCE_DIR}/lua/${name}.lua")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  file(READ "${path}" text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# weir_script(NAME TEXT OUT): a weir::redis::Script as C++. The text alone goes
# to generated/lua, for those who call scripts by hand.
function(weir_script name text out)
  string(SHA1 sha "${text}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/lua/${name}.lua"
    CONTENT "${text}" @ONLY)
  set(${out} "{\"${name}\", R\"lua(${text})lua\",\n \"${sha}\"}" PARENT_SCOPE)
endfunction()

# weir_lua_part(HALF LABEL OUT): the part that the line "-- LABEL:" of a Lua half
# names; empty without such a line.
function(weir_lua_part half label out)
  set(text "")
  if(half MATCHES "\n-- ${label}: +([a-z0-9_]+)\n")
    weir_read_lua(${CMAKE_MATCH_1} text)
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# weir_lua_fields(CHECK NAMES DOUBLES): the names in the line "-- Fields:", and a
# "d" for each.
function(weir_lua_fields check names doubles)
  if(NOT check MATCHES "-- Fields: +([a-z_, ]+)\n")
    message(FATAL_ERROR "a check without a line \"-- Fields:\":\n${check}")
  endif()
  set(${names} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  string(REGEX REPLACE "[^,]+,?" "d" letters "${CMAKE_MATCH_1}")
  set(${doubles} "${letters}" PARENT_SCOPE)
endfunction()

function(weir_write_scripts out)
  weir_read_lua(head head)
  weir_read_lua(batch batch)
  string(APPEND head "${batch}")
  weir_read_lua(alone alone)
  weir_read_lua(usual one_key)
  string(REPLACE "--[[usual]]" "${one_key}" alone "${alone}")
  weir_read_lua(together together)
  weir_read_lua(run run)
  set(prelude "")
  foreach(part IN LISTS WEIR_LUA_PRELUDE)
    weir_read_lua(${part} text)
    string(APPEND prelude "${text}")
  endforeach()
  string(APPEND prelude "local engines = {}\n")

  set(names "")
  set(pairs "")
  foreach(pair IN LISTS WEIR_ENGINE_SCRIPTS)
    string(REGEX MATCH "^([^=]*)=(.*)$" _ "${pair}")
    set(engine "${CMAKE_MATCH_1}")
    set(script "${CMAKE_MATCH_2}")
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/lua/${script}.lua")
      message(FATAL_ERROR
        "engine ${engine} has no Lua half: core/engines/list.txt names it, but "
        "lua/${script}.lua is missing")
    endif()
    if(NOT script IN_LIST names)
      list(APPEND names "${script}")
    endif()
    list(FIND names "${script}" index)
    string(APPEND pairs "    {\"${engine}\", ${index}},\n")
  endforeach()

  set(scripts "")
  set(checks "")
  set(charges "")
  set(definitions "")
  set(word "if")
  set(i 1)
  foreach(name IN LISTS names)
    weir_read_lua(${name} half)
    weir_lua_part("${half}" Check check)
    weir_lua_part("${half}" Charge charge)
    set(usual "")
    if(check)
      weir_lua_fields("${check}" fields doubles)
      string(REPLACE " --[[fields]]" ", ${fields}" usual "${alone}")
      string(REPLACE "--[[d]]" "${doubles}" usual "${usual}")
      string(REPLACE "--[[check]]" "${check}" usual "${usual}")
      string(REPLACE "--[[charge]]" "${charge}" usual "${usual}")
      string(APPEND checks "${word} kind == ${i} then\n"
        "local ${fields} = unpack('<${doubles}', step, 19)\n${check}")
      string(APPEND charges "${word} kind == ${i} then\n${charge}")
      set(word "elseif")
    endif()
    weir_script(${name}
      "${head}${usual}${prelude}engines[1] = function()\n${half}end\n${run}"
      script)
    string(APPEND scripts "    ${script},\n")
    string(APPEND definitions "engines[${i}] = function()\n${half}end\n")
    math(EXPR i "${i} + 1")
  endforeach()
  string(REPLACE "--[[checks]]" "${checks}end\n" usual "${together}")
  string(REPLACE "--[[charges]]" "${charges}end\n" usual "${usual}")
  string(LENGTH "${head}" head_bytes)
  string(LENGTH "${head}${usual}" prelude_at)
  string(LENGTH "${prelude}" prelude_bytes)
  string(LENGTH "${head}${usual}${prelude}${definitions}" run_at)
  weir_script(several "${head}${usual}${prelude}${definitions}${run}" several)

  file(CONFIGURE OUTPUT "${out}" CONTENT
"// Made from lua/.
#ifndef WEIR_ENGINE_SCRIPTS_H_
#define WEIR_ENGINE_SCRIPTS_H_

#include <cstddef>
#include <string_view>

#include \"backends/redis/call.h\"

namespace weir::redis {

// For a call of one rule: one for each Lua half.
inline constexpr Script kEngineScripts[] = {
${scripts}};
// For a call of several rules; its engines are those above, in their order.
inline constexpr Script kSeveralScript =
    ${several};
// Where its parts lie: the head, the usual calls, the prelude, the engines, and
// what runs the call.
inline constexpr size_t kHeadBytes = ${head_bytes};
inline constexpr size_t kPreludeAt = ${prelude_at};
inline constexpr size_t kPreludeBytes = ${prelude_bytes};
inline constexpr size_t kRunAt = ${run_at};

struct EngineScriptIndex {
  std::string_view algorithm;
  size_t index;
};
inline constexpr EngineScriptIndex kScriptOfEngine[] = {
${pairs}};

}  // namespace weir::redis

#endif  // WEIR_ENGINE_SCRIPTS_H_
" @ONLY)
endfunction()
