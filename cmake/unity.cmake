# Unity (ThrowTheSwitch), the test framework, as the target `unity_framework`.
# Looked for in this order: UNITY_ROOT (a folder with unity.c, which
# `./quickstart` provides), an installed CMake package, a download.
set(UNITY_ROOT "$ENV{UNITY_ROOT}" CACHE PATH "Folder that holds Unity's unity.c and unity.h")

if(UNITY_ROOT)
    find_path(UNITY_SOURCE unity.c PATHS ${UNITY_ROOT} ${UNITY_ROOT}/src NO_DEFAULT_PATH NO_CACHE)
    if(NOT UNITY_SOURCE)
        message(FATAL_ERROR "UNITY_ROOT=${UNITY_ROOT} holds no unity.c: correct it, or clear it with -DUNITY_ROOT=")
    endif()
else()
    find_package(unity CONFIG QUIET)
    if(TARGET unity::framework)
        add_library(unity_framework ALIAS unity::framework)
        return()
    endif()
    # Tag v2.6.0 is commit 860062d51b2e8a75d150337b63ca2a472840d13c.
    include(FetchContent)
    if(POLICY CMP0135)
        cmake_policy(SET CMP0135 NEW)
    endif()
    FetchContent_Declare(unity
        URL https://github.com/ThrowTheSwitch/Unity/archive/refs/tags/v2.6.0.tar.gz
        URL_HASH SHA256=aa4c9fb1ae5fc5242f914c65f3557e817e40cb37f04a31e5ff76d1ab89dbf674)
    FetchContent_GetProperties(unity)
    if(NOT unity_POPULATED)
        FetchContent_Populate(unity)
    endif()
    set(UNITY_SOURCE ${unity_SOURCE_DIR}/src)
endif()

add_library(unity_framework STATIC ${UNITY_SOURCE}/unity.c)
target_include_directories(unity_framework SYSTEM PUBLIC ${UNITY_SOURCE})
target_compile_definitions(unity_framework PUBLIC UNITY_INCLUDE_DOUBLE)
