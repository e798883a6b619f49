cmake_minimum_required(VERSION 3.16)

# run(COMMAND...): runs it, and stops with what it said if it fails.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message("${output}")
    message(FATAL_ERROR "${command} failed (${result})")
  endif()
endfunction()

# What every configuration here begins with. What is asked is what there is and
# whether it links, so it is compiled as soon as can be: all sources of a target
# at once, too, as some users build what they take in.
set(configure "${CMAKE_COMMAND}" -G "${GENERATOR}" -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_UNITY_BUILD=ON
  -DCMAKE_UNITY_BUILD_BATCH_SIZE=12
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
if(HIREDIS)
  list(APPEND configure "-DHiredis_ROOT=${HIREDIS}")
endif()

# configure_expecting(PATTERN OPTION...): configures. Empty: it must work out;
# else it must stop with a message that matches.
function(configure_expecting pattern)
  execute_process(COMMAND ${configure} ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  # CMake breaks the lines of its messages.
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(pattern STREQUAL "")
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "it does not configure (${CASE}): ${output}")
    endif()
  elseif(result EQUAL 0)
    message(FATAL_ERROR "configured in spite of it (${CASE})")
  elseif(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "the message does not say what is wrong: ${output}")
  endif()
endfunction()
