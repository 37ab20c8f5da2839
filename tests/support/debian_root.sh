# debian_root.sh - a Debian root file system in a folder, for tests that need another system.

# debian_mirror: prints the Debian mirror of this machine, without a slash at the end; nothing where its package lists name
# none.
debian_mirror() {
    apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk '$1 == "Debian" && $2 !~ /-/ && $3 == "main" { sub(/^mirror\+/, "", $4); sub(/\/$/, "", $4); print $4; exit }' |
        while read -r place; do
            if [[ $place == file:* && -f ${place#file:} ]]; then # a list of mirrors
                place=$(sed -n 's/^\(http[^[:space:]]*[^[:space:]/]\).*/\1/p; T; q' "${place#file:}")
            fi
            echo "$place"
        done
}

# make_root RELEASE FOLDER: makes a minimal Debian; prints the reason where that fails. A folder that exists is complete.
make_root() {
    local mirror
    [ ! -d "$2" ] || return 0
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || { echo "the package lists of this machine name no mirror of Debian" && return 1; }
    rm -rf "$2.part"
    mkdir -p "$(dirname "$2")"
    if ! debootstrap --variant=minbase "$1" "$2.part" "$mirror" >"$2.log" 2>&1; then
        echo "debootstrap $1: $(tail -n 1 "$2.log")"
        rm -rf "$2.part"
        return 1
    fi
    for conf in /etc/apt/apt.conf.d/*; do # a proxy, if this machine has one
        if grep -qi '^ *acquire.*proxy' "$conf"; then cp "$conf" "$2.part/etc/apt/apt.conf.d/"; fi
    done
    mv "$2.part" "$2"
}

# in_root FOLDER COMMAND...: runs it there with an empty environment, in its own mount namespace.
in_root() {
    local root=$1
    shift
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" "$(command -v unshare)" --mount bash -c '
            mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' \
        "$root" "$@"
}
