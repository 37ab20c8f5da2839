# Manual pages, written by the command from its option tables (`fathom --man COMMAND`), and the completion scripts, which
# call it. Pages are built where the command can run, that is, not when cross-compiling.
set(FATHOM_PAGES "")
find_program(GZIP gzip)
# add_page(NAME WORDS...): builds fathom-NAME.1, or .1.gz where gzip is installed.
function(add_page name)
    set(page ${PROJECT_BINARY_DIR}/man/${name}.1)
    set(compress "")
    set(made ${page})
    if(GZIP)
        set(made ${page}.gz)
        set(compress COMMAND ${GZIP} -9nfk ${page})
    endif()
    add_custom_command(OUTPUT ${made} COMMAND fathom_command --man ${ARGN} > ${page} ${compress}
        DEPENDS fathom_command VERBATIM)
    set(FATHOM_PAGES ${FATHOM_PAGES} ${made} PARENT_SCOPE)
endfunction()

if(TARGET fathom_command AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
    add_page(fathom)
    # The commands are listed in cli.h as X(data_info), which is `fathom data info` and fathom-data-info.1.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/host/cli/cli.h)
    file(READ host/cli/cli.h text)
    string(REGEX MATCHALL "\n    X\\([a-z_]+" command_lines "${text}")
    foreach(line IN LISTS command_lines)
        string(REGEX REPLACE ".*X\\(" "" command "${line}")
        string(REPLACE "_" ";" words "${command}")
        string(REPLACE "_" "-" page "${command}")
        add_page(fathom-${page} ${words})
    endforeach()
    add_custom_target(fathom_manual ALL DEPENDS ${FATHOM_PAGES})
    install(FILES ${FATHOM_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
endif()

if(TARGET fathom_command)
    set(shell ${PROJECT_SOURCE_DIR}/host/cli/shell)
    install(FILES ${shell}/fathom.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME fathom
        COMPONENT command)
    install(FILES ${shell}/fathom.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT command)
    # zsh searches site-functions below /usr/local, vendor-completions below /usr on Debian.
    foreach(folder site-functions vendor-completions)
        install(FILES ${shell}/fathom.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder} RENAME _fathom
            COMPONENT command)
    endforeach()
endif()
