#!/usr/bin/env bash
# package_module_search.sh - the OpenCL module is found however the program was started, in the environment of a user: through
# PATH, a link, another or a deleted current folder, by a deleted executable, from an installed prefix (also with DESTDIR),
# by the shared library and by static programs anywhere. Where it is missing, the message lists the searched folders.
# labels: asan-skip
need_command
[ -f "$BUILD_DIR/fathom_opencl.so" ] || skip "built without the OpenCL module"
mkdir home elsewhere links gone place hostile
ln -s "$FATHOM" links/fathom
ln -s "$FATHOM" links/deep
folder=${FATHOM%/*}
start=$PWD

# finds WHAT COMMAND...: it reports no missing module.
finds() {
    local what=$1
    shift
    "$@" >"$start/notes" 2>&1 || fail "$what: '$*' fails: $(cat "$start/notes")"
    ! grep -q 'OpenCL module' "$start/notes" || fail "$what: $(grep 'OpenCL module' "$start/notes")"
}
# misses WORDS COMMAND...: the module is not found, and the message has these words.
misses() {
    local words=$1
    shift
    [ -z "$(module_installed)" ] || return 0
    "$@" >"$start/notes" 2>&1 || fail "'$*' fails: $(cat "$start/notes")"
    grep -q 'the OpenCL module fathom_opencl.so is not there' "$start/notes" || fail "'$*' finds a module: $(cat "$start/notes")"
    grep -qF -- "$words" "$start/notes" || fail "the message has no '$words': $(cat "$start/notes")"
}
user_path=/usr/local/bin:/usr/bin:/bin

# --- the build tree ---
export PATH=$folder:$user_path
finds "through PATH" as_user fathom devices
(cd elsewhere && finds "through PATH from another folder" as_user fathom devices)
(cd / && finds "through PATH from /" as_user fathom devices)
PATH=$start/links:$user_path finds "a link in PATH" as_user fathom devices
PATH=$start/links:$user_path finds "a link of another name" as_user deep devices
(cd links && finds "a link beside" as_user ./fathom devices)
(cd "$folder/tests" && finds "a path with .." as_user ../fathom devices)
(cd gone && rmdir "$start/gone" && finds "a deleted current folder" as_user fathom devices)
# a file of the command's name with a module beside it, in the current folder, is ignored
cp "$FATHOM" hostile/fathom
echo 'not a library' >hostile/fathom_opencl.so
(cd hostile && finds "a foreign module in the current folder" as_user fathom devices)
# an update replaces the executable while it runs: only its open file is left
cp "$FATHOM" "$BUILD_DIR/fathom_opencl.so" place/
exec 8<place/fathom
rm place/fathom
finds "a deleted executable" as_user "/proc/$$/fd/8" devices
exec 8<&-
# an invalid argv[0]
finds "another argv[0]" as_user bash -c 'exec -a nonsense/fathom "$0" devices' "$FATHOM"

# --- missing ---
cp "$FATHOM" elsewhere/
misses "searched: $start/elsewhere, $start/elsewhere/fathom," as_user elsewhere/fathom devices
misses "set FATHOM_MODULE_DIR to its folder" as_user elsewhere/fathom devices
misses "searched: $start/elsewhere (FATHOM_MODULE_DIR)" as_user FATHOM_MODULE_DIR="$start/elsewhere" "$FATHOM" devices
finds "FATHOM_MODULE_DIR" as_user FATHOM_MODULE_DIR="$BUILD_DIR" elsewhere/fathom devices
finds "an empty FATHOM_MODULE_DIR" as_user FATHOM_MODULE_DIR= "$FATHOM" devices

# --- an installed prefix, which may be moved or unpacked below DESTDIR ---
cmake --install "$BUILD_DIR" --prefix "$PWD/prefix" >log || fatal "cmake --install: $(tail -3 log)"
PATH=$start/prefix/bin:$user_path finds "an installed prefix" as_user fathom devices
mv prefix "other prefix"
PATH="$start/other prefix/bin:$user_path" finds "a moved prefix" as_user fathom devices
mv "other prefix" prefix
DESTDIR=$start/dest cmake --install "$BUILD_DIR" >log || fatal "cmake --install with DESTDIR: $(tail -3 log)"
command=$(find dest -name fathom -path '*/bin/*')
PATH=$start/${command%/fathom}:$user_path finds "below DESTDIR" as_user fathom devices

# --- programs with the library ---
if command -v pkg-config >/dev/null && command -v "${CC:-cc}" >/dev/null; then
    cat >list.c <<'C'
#include <fathom/fathom.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) { /* changes the folder after the library was loaded, before the search */
    fathom_device_list *list = NULL;
    const char *note;
    if ((count > 1 && chdir(words[1]) != 0) || fathom_device_list_make(&list))
        return 1;
    for (int i = 0; (note = fathom_device_list_note(list, i)); i++)
        puts(note);
    fathom_device_list_free(list);
    return 0;
}
C
    pc=$(find prefix -name fathom.pc)
    export PKG_CONFIG_PATH=$start/${pc%/*}
    libdir=$(pkg-config --variable=libdir fathom)
    mkdir -p programs
    # shellcheck disable=SC2046
    "${CC:-cc}" list.c $(pkg-config --cflags --libs fathom) -o programs/shared 2>log || fatal "list.c: $(head -3 log)"
    # shellcheck disable=SC2046
    "${CC:-cc}" list.c $(pkg-config --cflags --static --libs fathom | sed 's/-lfathom\b/-l:libfathom.a/') \
        -o programs/static 2>log || fatal "list.c with libfathom.a: $(head -3 log)"
    finds "the shared library" as_user LD_LIBRARY_PATH="$libdir" programs/shared
    (cd "$libdir" && finds "the shared library by a relative path" as_user LD_LIBRARY_PATH=. "$start/programs/shared" /)
    PATH=$start/programs:$user_path finds "a static program through PATH" as_user static
    (cd / && finds "a static program from /" as_user "$start/programs/static" "$start")
    find prefix -name fathom_opencl.so -delete
    misses "searched: $start/programs," as_user programs/static
else
    echo "no compiler or no pkg-config: programs with the library are left out"
fi
