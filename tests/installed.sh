# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Sourced after lib.sh by tests of what is installed: installs the build below $root, whose name has no space, since what
# pkg-config says is for the command line of a compiler. $san: the sanitizers of the build, or nothing.
mapfile -t vars < <(grep -v '^#' "$VESTIGE_BUILD/config")
san=$(sed -n 's/^SAN=//p' "$VESTIGE_BUILD/config")
root=$(mktemp -d /tmp/vestige-installed.XXXXXX) || exit 2
trap 'rm -rf "$T" "$_work" "$root"' EXIT
export PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 SOURCE_DATE_EPOCH=1000000000
make -C "$VESTIGE_SRC" "${vars[@]}" install DESTDIR="$root" PREFIX=/usr >"$T/install" 2>&1 || {
    cat "$T/install"
    exit 2
}
export LD_LIBRARY_PATH=$root/usr/lib
