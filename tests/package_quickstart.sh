#!/usr/bin/env bash
# package_quickstart.sh - the set-up script: its commands and options, what it refuses, that --no-install installs nothing
# even where everything is missing, and how it tests another Debian.
# labels: asan-skip
quickstart="$SOURCE_DIR/quickstart"

expect_exit 0 "$quickstart" --help
grep -q -- '--no-install' out || fail "--help does not name --no-install"
expect_exit 2 "$quickstart"
expect_exit 2 "$quickstart" fly
grep -q "unknown argument 'fly'" err || fail "an unknown command is not named: $(cat err)"
grep -q 'build, run, test, bench' err || fail "the commands are not listed: $(cat err)"
expect_exit 2 "$quickstart" build test
expect_exit 2 "$quickstart" test --devices some
expect_exit 2 "$quickstart" test --platform
expect_exit 2 "$quickstart" test --platform ../trixie
expect_exit 2 "$quickstart" build --platform trixie
grep -q -- '--platform is for: test' err || fail "--platform with another command than test: $(cat err)"

# A machine with nothing installed; each of these programs records that it was called.
mkdir fake tree cache
for tool in apt-get apt-cache apt sudo; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/called"\nexit 1\n' $tool "$PWD" >fake/$tool
done
printf '#!/bin/sh\nexit 1\n' >fake/dpkg-query
printf '#!/bin/sh\nexit 1\n' >fake/cmake
chmod +x fake/*
cp "$quickstart" tree/
expect_exit 1 env PATH="$PWD/fake:$PATH" XDG_CACHE_HOME="$PWD/cache" UNITY_ROOT= tree/quickstart build --no-install
[ ! -e called ] || fail "--no-install called: $(cat called)"
grep -q 'not installed (--no-install): gcc ' err || fail "what is missing is not named: $(cat err)"

# Without --no-install the installer is called: the record works.
expect_exit 1 env PATH="$PWD/fake:$PATH" XDG_CACHE_HOME="$PWD/cache" UNITY_ROOT= tree/quickstart build
grep -qE '^(apt-get|sudo)' called || fail "the installer was never called"

# The private list of source packages, from both formats of apt sources.
eval "$(sed -n '/^private_sources() {$/,/^}$/p' "$quickstart")"
mkdir -p etc/sources.list.d list
cat >etc/sources.list <<'TEXT'
# deb mirror://no.example/a stable main
deb mirror://one.example/a stable main contrib
deb-src mirror://one.example/a stable main
  deb [arch=amd64 signed-by=/k.gpg] mirror://two.example/b ./
TEXT
echo 'deb mirror://three.example/c stable main' >etc/sources.list.d/three.list
cat >etc/sources.list.d/four.sources <<'TEXT'
# a comment
Types: deb deb-src
URIs: mirror://four.example/d
# another
Suites: stable stable-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
Enabled: no
URIs: mirror://off.example/e

Types: deb-src
URIs: mirror://source.example/f

types: deb
URIs: mirror://six.example/g
Suites: stable
TEXT
private_sources "$PWD/etc" "$PWD/list"
cat >wanted <<'TEXT'
Types: deb-src
URIs: mirror://four.example/d
Suites: stable stable-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb-src
URIs: mirror://six.example/g
Suites: stable

deb-src mirror://one.example/a stable main contrib
deb-src [arch=amd64 signed-by=/k.gpg] mirror://two.example/b ./
deb-src mirror://three.example/c stable main
TEXT
cat list/four.sources list/sources.list list/three.list >got
diff wanted got || fail "the private list of source packages differs (< wanted, > got)"

# --- packages: the first alternative that is offered; what is not offered is named and requested once ---
mkdir fake2
printf '#!/bin/sh\necho "apt-get $*" >>"%s/called"\n' "$PWD" >fake2/apt-get
printf '#!/bin/sh\ncase $1 in madison) cat "%s/lists" ;; *) grep -qx "$2" "%s/offers" ;; esac\n' "$PWD" "$PWD" >fake2/apt-cache
printf '#!/bin/sh\nfor n; do grep -qx "$n" "%s/there" && printf "%%s:installed " "$n"; done; true\n' "$PWD" >fake2/dpkg-query
printf '#!/bin/sh\necho 0\n' >fake2/id
chmod +x fake2/*
eval "$(sed -n '/^log_info() {/p; /^die() {$/,/^# install_packages/p; /^install_packages() {$/,/^}$/p' "$quickstart")"
# asks PACKAGE...: runs install_packages on the machine described by the files lists, offers and there.
asks() {
    rm -f called
    PATH=$PWD/fake2:$PATH INSTALL=yes install_packages "$@" 2>err
    touch called
}
printf '%s\n' gcc >lists
printf '%s\n' b c d >offers
printf '%s\n' z >there
asks 'a|b|c' 'x|y|z' e
same "$(tail -n 1 called | sed 's/.*recommends //')" b "the first alternative that is offered"
same "${ABSENT[*]}" e "what is not offered"
grep -q 'this system does not offer: e$' err || fail "what is not offered is not named: $(cat err)"
asks e 'f|g'
same "$(cat called)" '' "lists that offer nothing of it were refreshed"
same "${ABSENT[*]}" 'e f|g' "what is not offered, requested again"
: >lists
asks e
grep -q update called || fail "no lists here, and they were not fetched"

# --- another Debian: how quickstart uses its result, and how the root file system is made ---
mkdir -p tree/tests/support
cat >tree/tests/support/platform <<'TEXT'
#!/bin/sh
echo "$*" >>"$ARGUMENTS"
printf 'quickstart: == release: testing\nSkipped:\n  release: test_a: no b here\n7 passed, %s failed, 1 skipped\n' "$PLATFORM_FAILS"
exit "$PLATFORM_FAILS"
TEXT
chmod +x tree/tests/support/platform
printf '#!/bin/sh\nprintf "debootstrap:installed "\n' >fake2/dpkg-query
export ARGUMENTS=$PWD/words
elsewhere() { PATH=$PWD/fake2:$PATH XDG_CACHE_HOME=$PWD/cache FATHOM_TEST_LONG='' FATHOM_TEST_DEVICES='' "$@"; }
PLATFORM_FAILS=0 elsewhere expect_exit 0 tree/quickstart test --platform trixie
same "$(cat words)" "trixie $PWD/cache/fathom/root-trixie" "how the root is requested"
same "$(tail -n 3 out)" "Skipped:
  trixie: release: test_a: no b here
7 passed, 0 failed, 1 skipped" "the summary"
PLATFORM_FAILS=1 elsewhere expect_exit 1 tree/quickstart test --platform trixie --long --no-install
same "$(tail -n 1 words)" "trixie $PWD/cache/fathom/root-trixie --no-install --long" "the options that are passed on"
same "$(tail -n 1 out)" "7 passed, 1 failed, 1 skipped" "the count"
eval "$(sed -n '/^other_platform() {$/,/^}$/p' "$quickstart")"
same "$(FATHOM_TEST_LONG='' other_platform)$(FATHOM_TEST_LONG=1 FATHOM_PLATFORM=trixie other_platform)" '' "a platform that was not requested"
grep -q '^VERSION_CODENAME=trixie' /etc/os-release || same "$(FATHOM_TEST_LONG=1 other_platform)" trixie "the platform of --long"

mkdir fake3
cat >fake3/apt-get <<'TEXT'
#!/bin/sh
echo 'Other bookworm main mirror://one.example/other/
Debian bookworm-updates main mirror://two.example/updates/
Debian bookworm main mirror://three.example/debian/
Debian bookworm contrib mirror://four.example/debian/'
TEXT
printf '#!/bin/sh\necho "$*" >>"%s/made"\n[ "$FAIL" = 0 ] || { mkdir "$3"; echo "E: no such"; exit 1; }\nmkdir -p "$3/root" "$3/etc/apt/apt.conf.d"\n' \
    "$PWD" >fake3/debootstrap
printf '#!/bin/sh\necho "$*" >>"%s/entered"\n' "$PWD" >fake3/unshare
cp fake2/id fake3/
chmod +x fake3/*
rm -rf tree
mkdir -p tree/tests/support tree/build tree/.git
cp "$SOURCE_DIR"/tests/support/{platform,debian_root.sh} tree/tests/support/
touch tree/file tree/build/object
made_by() { PATH=$PWD/fake3:$PATH "$@" tree/tests/support/platform trixie "$PWD/cache/root" --devices all; }
FAIL=1 made_by expect_exit 77
grep -q 'platform trixie: debootstrap trixie: E: no such' err || fail "the reason why there is no root is missing: $(cat err)"
ls -d cache/root* | grep -vE 'root\.(log|lock)$' && fail "half a root is left"
FAIL=0 made_by expect_exit 0
same "$(tail -n 1 made)" "--variant=minbase trixie $PWD/cache/root.part mirror://three.example/debian" "arguments of debootstrap"
same "$(cd cache/root/srv/fathom && find . | sort | xargs)" \
    ". ./file ./tests ./tests/support ./tests/support/debian_root.sh ./tests/support/platform" "the tree in the root"
grep -q "/cache/root env FATHOM_PLATFORM=trixie /srv/fathom/quickstart test --devices all\$" entered || fail "not entered: $(cat entered)"
FAIL=1 made_by expect_exit 0 # the root is there
exec 8>cache/root.lock
flock 8
FAIL=0 made_by expect_exit 77
grep -q 'another process uses' err || fail "two use one root: $(cat err)"
