#!/bin/bash
# SPDX-License-Identifier: MIT
# The Debian package: what is in it, and that it works for an ordinary user, unpacked at a place where it was not built.
. "$(dirname "$0")/lib.sh"

if [ -n "$sanitized" ]; then
    skip_all "a sanitizer's build is not for packaging"
fi
command -v dpkg-shlibdeps >/dev/null || skip_all "no dpkg-dev"
mapfile -t vars < <(grep -v '^#' "$VESTIGE_BUILD/config")
export SOURCE_DATE_EPOCH=1000000000

# Others may go there; $T is our own.
place=$(mktemp -d /tmp/vestige-deb.XXXXXX) || exit 2
trap 'rm -rf "$T" "$_work" "$place"' EXIT
chmod 755 "$place"
package=$place/vestige.deb
tree=$place/another/root

begin builds_a_package
run make -C "$VESTIGE_SRC" "${vars[@]}" deb DEB="$package"
expect_status 0
expect_no_err
grep -qE '^  (CC|PIC|AR|LD) ' "$out" && fail "it built something"
expect_out "^vestige: $package; to install it: "
expect_equal "$(ls "$place")" vestige.deb "what is left"

begin is_the_same_every_time
run make -C "$VESTIGE_SRC" "${vars[@]}" deb DEB="$place/again.deb"
expect_status 0
cmp -s "$package" "$place/again.deb" || fail "another file"

begin says_what_it_needs
run dpkg-deb -f "$package" Package Version Architecture Depends Recommends Maintainer Installed-Size
expect_status 0
expect_out '^Package: vestige$'
expect_out "^Version: $("$VESTIGE" --version | cut -d' ' -f2)\$"
expect_out "^Architecture: $(dpkg --print-architecture)\$"
expect_out '^Depends: .*\blibc6 \(>= .*\blibzydis.*\bvalgrind \(>= .*, valgrind \(<< '
expect_out '^Recommends: gdb-multiarch$'
expect_out '^Maintainer: .+ <.+@.+>$'
# each library of each program is of a package that is named
depends=$(dpkg-deb -f "$package" Depends)
for library in $(objdump -p "$VESTIGE" | awk '$1 == "NEEDED" { print $2 }'); do
    owner=$(dpkg -S "*/$library" 2>/dev/null | sed -n 's/^\([^:]*\):.*/\1/p' | sort -u)
    found=''
    for name in $owner; do
        [[ $depends != *"$name"* ]] || found=yes
    done
    [ -n "$found" ] || fail "$library: none of '$owner' in Depends"
done

begin has_what_install_installs
dpkg-deb -c "$package" >"$T/list" || fail "no package"
mkdir "${tree%/*}"
dpkg-deb -x "$package" "$tree" || fail "not extracted"
make -C "$VESTIGE_SRC" "${vars[@]}" -s install DESTDIR="$T/root" PREFIX=/usr LIBDIR="/usr/lib/$(gcc -print-multiarch)" \
    >"$out" 2>"$err" || fail "not installed"
expect_equal "$(cd "$tree" && find . ! -type d ! -path './usr/share/doc/*' | sort)" \
    "$(cd "$T/root" && find . ! -type d ! -path './usr/share/doc/*' | sort)" files
expect_file "$tree/usr/share/doc/vestige/copyright"
grep -q 'GPL-2' "$tree/usr/share/doc/vestige/copyright" || fail "nothing of the tool's licence"
expect_equal "$(dpkg-deb -I "$package" md5sums | wc -l)" "$(find "$tree" -type f | wc -l)" "sums"
dpkg-deb -I "$package" md5sums >"$T/sums"
(cd "$tree" && md5sum -c --quiet "$T/sums") >"$out" 2>&1 || fail "other files than the sums say"

begin keeps_to_the_rules
expect_equal "$(awk '$6 !~ /^\.\/(usr\/.*)?$/' "$T/list")" "" "files outside /usr"
expect_equal "$(awk '$2 != "root/root"' "$T/list")" "" "owners"
expect_equal "$(awk '$1 !~ /^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx)$/' "$T/list")" "" "permissions"
expect_equal "$(awk '/^-rwx/ { print $6 }' "$T/list" | grep -vE '^\./usr/(bin/|lib/)')" "" "programs elsewhere"
expect_equal "$(grep -rlaF -e "$VESTIGE_SRC" -e "$place" "$tree")" "" "files that name a folder of the build"

# ---- as an ordinary user ------------------------------------------------------------------------

mkdir "$place/home" "$place/programs"
cp "$(workload host fft)" "$place/programs/fft"
cp "$(workload rv64 racy)" "$place/programs/racy"
cd "$place/home" || exit 2
as_user=()
if [ "$(id -u)" = 0 ]; then
    chown 65534:65534 "$place/home"
    as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi

# user COMMAND...: of the package, with next to nothing in the environment.
user() {
    run "${as_user[@]}" env -i PATH=/usr/bin:/bin "$tree/usr/bin/$1" "${@:2}"
}

begin tells_its_version
user vestige --version
expect_status 0
expect_equal "$(cat "$out")" "$("$VESTIGE" --version)"

begin records_a_native_program
user vestige record -o native.vest -- ../programs/fft -n 6 -p 2
expect_status 0
expect_out '^fft: checksum '
user vestige info native.vest
expect_status 0
expect_out 'engine +valgrind'
user vestige check --memory --flow native.vest
expect_status 0
user vestige bandwidth native.vest
expect_status 0
user vestige verify native.vest -t mcfTR_e -t mlvCF_e -t ADAC
expect_status 0
expect_out '^compared [1-9][0-9,]* events: all equal$'
user mcfTrace -a -o plain -- ../programs/fft -n 6
expect_status 0

begin records_and_replays_a_simulated_program
user vestige record -o sim.vest --cores 2 --timed -- ../programs/racy -n 50 -p 2
expect_status 0
user vestige info sim.vest
expect_status 0
user vestige bandwidth sim.vest
expect_status 0
user vestige verify sim.vest -t mcfTR_e -t mc2RT -t ADAC
expect_status 0
user vestige encode sim.vest -t mc2RT -o sim.vport
expect_status 0
user vestige replay sim.vport --check sim.vest
expect_status 0
expect_out ': all equal$'

finish
