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

if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${WEIR_SANITIZE})
endif()
