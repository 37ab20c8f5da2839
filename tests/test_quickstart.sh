#!/usr/bin/env bash
# test_quickstart.sh - the set-up script: its words, its refusals, and that
# --no-install installs nothing even where everything is missing.
# labels: asan-skip
quickstart="$SOURCE_DIR/quickstart"

expect_exit 0 "$quickstart" --help
grep -q -- '--no-install' out || fail "--help does not name --no-install"
expect_exit 2 "$quickstart"
expect_exit 2 "$quickstart" fly
grep -q "unknown word 'fly'" err || fail "an unknown word is not named: $(cat err)"
grep -q 'build, run, test, bench' err || fail "the words that exist are not listed: $(cat err)"
expect_exit 2 "$quickstart" build test
expect_exit 2 "$quickstart" test --devices some

# A machine with nothing installed, where each of these leaves a trace when called.
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

# The same without --no-install does call the installer: the traces work.
expect_exit 1 env PATH="$PWD/fake:$PATH" XDG_CACHE_HOME="$PWD/cache" UNITY_ROOT= tree/quickstart build
grep -qE '^(apt-get|sudo)' called || fail "the installer was never called"

# The private list of source packages, from both forms that a machine may have.
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
