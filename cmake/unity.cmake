# unity.cmake - Unity (ThrowTheSwitch), the test framework. CMake searches UNITY_ROOT (a folder with unity.c, which
# `./quickstart` provides), then installed CMake packages; it downloads Unity only with -DFATHOM_FETCH_UNITY=ON.
# Sets FATHOM_TESTS: off inside another project; else ON where Unity is found; -DFATHOM_TESTS=ON without Unity is an error.
# add_unity() defines the target `unity_framework`.
if(NOT PROJECT_IS_TOP_LEVEL)
    set(FATHOM_TESTS OFF) # for this folder and below; the cache of the outer project stays as it is
    return()
endif()
set(UNITY_ROOT "$ENV{UNITY_ROOT}" CACHE PATH "Folder that holds Unity's unity.c and unity.h")
option(FATHOM_FETCH_UNITY "Download Unity where it is not found" OFF)

set(FATHOM_UNITY "")
if(UNITY_ROOT)
    find_path(UNITY_SOURCE unity.c PATHS ${UNITY_ROOT} ${UNITY_ROOT}/src NO_DEFAULT_PATH NO_CACHE)
    if(NOT UNITY_SOURCE)
        message(FATAL_ERROR "UNITY_ROOT=${UNITY_ROOT} holds no unity.c: correct it, or clear it with -DUNITY_ROOT=")
    endif()
    set(FATHOM_UNITY folder)
else()
    find_package(unity CONFIG QUIET)
    if(TARGET unity::framework)
        set(FATHOM_UNITY package)
    elseif(FATHOM_FETCH_UNITY)
        set(FATHOM_UNITY download)
    endif()
endif()

if(FATHOM_UNITY)
    option(FATHOM_TESTS "Build the tests" ON)
elseif(NOT DEFINED FATHOM_TESTS)
    set(FATHOM_TESTS OFF) # not cached: a later call may name Unity
endif()
if(FATHOM_TESTS AND NOT FATHOM_UNITY)
    message(FATAL_ERROR "FATHOM_TESTS=ON needs the test framework Unity, which is not found. `./quickstart test` provides "
        "it; else -DUNITY_ROOT=FOLDER with its unity.c, or -DFATHOM_FETCH_UNITY=ON to download it.")
elseif(NOT FATHOM_TESTS)
    message(STATUS "fathom: the tests are not built; `./quickstart test` builds and runs them")
endif()

macro(fetch_unity)
    # Tag v2.6.0 is commit 860062d51b2e8a75d150337b63ca2a472840d13c.
    include(FetchContent)
    if(POLICY CMP0135)
        cmake_policy(SET CMP0135 NEW)
    endif()
    if(POLICY CMP0169)
        cmake_policy(SET CMP0169 OLD) # FetchContent_Populate: Unity's own CMakeLists.txt is not wanted
    endif()
    FetchContent_Declare(unity
        URL https://github.com/ThrowTheSwitch/Unity/archive/refs/tags/v2.6.0.tar.gz
        URL_HASH SHA256=aa4c9fb1ae5fc5242f914c65f3557e817e40cb37f04a31e5ff76d1ab89dbf674)
    FetchContent_GetProperties(unity)
    if(NOT unity_POPULATED)
        FetchContent_Populate(unity)
    endif()
    set(UNITY_SOURCE ${unity_SOURCE_DIR}/src)
endmacro()

macro(add_unity)
    if(FATHOM_UNITY STREQUAL package)
        add_library(unity_framework ALIAS unity::framework)
    else()
        if(FATHOM_UNITY STREQUAL download)
            fetch_unity()
        endif()
        add_library(unity_framework STATIC ${UNITY_SOURCE}/unity.c)
        target_include_directories(unity_framework SYSTEM PUBLIC ${UNITY_SOURCE})
        target_compile_definitions(unity_framework PUBLIC UNITY_INCLUDE_DOUBLE)
    endif()
endmacro()
