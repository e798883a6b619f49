# Flags of weir's own targets. Nothing here reaches a user's target.

# AR(1) and every other double must be rounded alike everywhere.
function(weir_developer_flags target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-ffp-contract=off>)
  if(WEIR_DEVELOPER)
    target_compile_options(${target} PRIVATE
      -Wall -Wextra -Wpedantic -Wshadow -Werror
      $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>)
  endif()
endfunction()

# The same for what judges weir, made to compile soon: assertions are long to
# optimize, and longer where each reference in them is looked at. Both are left
# to the code that is judged.
function(weir_test_flags target)
  weir_developer_flags(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(WEIR_SANITIZE MATCHES "undefined")
    target_compile_options(${target} PRIVATE
      -fno-sanitize=alignment,null,object-size,vptr)
  endif()
endfunction()

if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WEIR_SANITIZE})
endif()
