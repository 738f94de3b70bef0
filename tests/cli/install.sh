#!/bin/bash
# SPDX-License-Identifier: MIT
# What is installed: the library as a program outside the tree sees it, the command, its pages and completion.
. "$(dirname "$0")/lib.sh"

if grep -q '^SAN=.' "$VESTIGE_BUILD/config"; then
    skip_all "a sanitizer's build is not for installing"
fi
mapfile -t vars < <(grep -v '^#' "$VESTIGE_BUILD/config")
CC=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
# Not in $T, whose name may have a space: what pkg-config says is for the command line of a compiler.
root=$(mktemp -d /tmp/vestige-install.XXXXXX) || exit 2
trap 'rm -rf "$T" "$_work" "$root"' EXIT
lib=$root/usr/lib include=$root/usr/include
export PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1

cat >"$T/user.c" <<'CODE'
#include <stdio.h>
#include <vestige/vestige.h>

/* Writes a run and reads it. */
int main(int argc, char **argv)
{
    struct vs_writer_options options = {.overwrite = true};
    struct vs_writer *w;
    struct vs_reader *r;

    if (!vs_errstr(-VSE_CHECKSUM)[0] || argc != 2 || vs_writer_open(&w, argv[1], &options, NULL) < 0 ||
        vs_writer_meta(w, "isa", "rv64") < 0 || vs_writer_seal(w, NULL) < 0 ||
        vs_reader_open(&r, argv[1], VS_OPEN_STRICT, NULL) < 0)
        return 1;
    printf("%s %s\n", vs_version(), vs_reader_meta(r, "isa"));
    vs_reader_close(r);
    return 0;
}
CODE

# Sets $version to what the installed command says.
installed_version() {
    version=$("$root/usr/bin/vestige" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
    [ -n "$version" ] || fail "vestige --version has no version"
}

begin installs_what_was_built
run make -C "$VESTIGE_SRC" "${vars[@]}" install DESTDIR="$root" PREFIX=/usr
expect_status 0
grep -qE '^  (CC|PIC|AR|LD) ' "$out" && fail "it built something"
for file in "$root"/usr/bin/{vestige,mcfTrace,mlsTrace} "$lib"/libvestige.{a,so} "$lib/pkgconfig/vestige.pc"; do
    expect_file "$file"
done
expect_equal "$(ls "$include/vestige")" "$(ls "$VESTIGE_SRC/include/vestige")" headers

begin installs_for_everybody_and_anywhere
run sh -c 'umask 077 && exec "$@"' sh make -C "$VESTIGE_SRC" "${vars[@]}" install DESTDIR="$T/an other" PREFIX=/usr
expect_status 0
expect_equal "$(cd "$T/an other" && find . ! -type l ! -perm -444)" '' "not readable by all"
expect_equal "$(cd "$T/an other" && find . -mindepth 1 -type d ! -perm -111)" '' "closed folders"
expect_equal "$(cd "$T/an other" && find . | sort)" "$(cd "$root" && find . | sort)" files

begin installs_a_manual_page_of_everything
man=$root/usr/share/man/man1
{
    echo vestige.1
    "$root/usr/bin/vestige" help | sed -n 's/^  \([a-zA-Z]\+\) .*/\1/p' | while read -r name; do
        if [ -L "$root/usr/bin/$name" ]; then echo "$name.1"; else echo "vestige-$name.1"; fi
    done
} | sort >"$T/pages"
expect_equal "$(find "$man" -type f -printf '%f\n' | sort)" "$(cat "$T/pages")"
"$root/usr/bin/vestige" help --format man record | cmp -s - "$man/vestige-record.1" || fail "another page of record"
"$root/usr/bin/vestige" help --format man mlsTrace | cmp -s - "$man/mlsTrace.1" || fail "another page of mlsTrace"

begin installs_a_manual_page_of_every_function
man=$root/usr/share/man/man3
expect_equal "$(find "$man" -type f -printf '%f\n' | sed 's/\.3$//' | sort)" \
    "$(sed -n '/VS_API/{s/.*[ *]\(vs_[a-z_0-9]*\)(.*/\1/p}' "$VESTIGE_SRC"/include/vestige/*.h | sort)" functions
for page in "$man"/*.3; do
    run sh -c 'cd "$1" && groff -man -ww -Tascii -z "man3/$2"' sh "${man%/*}" "${page##*/}"
    expect_status 0
    expect_no_err .
    grep -qE '^(\.so man3/vs_|vs_[a-z_0-9, ]+ \\- [^ ]+ [^ ]+)' "$page" || fail "${page##*/} does not say what it does"
done

begin installs_completion
completions=$root/usr/share/bash-completion/completions
"$root/usr/bin/vestige" help --format bash | cmp -s - "$completions/vestige" || fail "another script for bash"
"$root/usr/bin/vestige" help --format zsh | cmp -s - "$root/usr/share/zsh/vendor-completions/_vestige" ||
    fail "another script for zsh"
# shellcheck disable=SC2046
expect_equal "$(cd "$completions" && readlink $(find "$root/usr/bin" -type l -printf '%f ') | sort -u)" vestige

begin runs_installed_under_other_names
run "$root/usr/bin/mlsTrace" -h
expect_status 0
expect_out '^usage: vestige mlsTrace '

begin links_shared_through_pkg_config
# shellcheck disable=SC2046 # flags are words
run $CC -std=c11 -Wall -Wextra -Werror -pedantic $(pkg-config --cflags vestige) -o "$T/shared" \
    "$T/user.c" $(pkg-config --libs vestige)
expect_status 0
run env LD_LIBRARY_PATH="$lib" "$T/shared" "$T/shared.vest"
expect_status 0
installed_version
expect_equal "$(cat "$out")" "$version rv64"
expect_equal "$(pkg-config --modversion vestige)" "$version" vestige.pc
run env -u LD_LIBRARY_PATH "$T/shared" "$T/shared.vest"
[ "$status" != 0 ] || fail "it runs without the shared library"

# A run that has only its inputs, which the library executes again, from wherever it is installed.
begin reads_all_events_of_a_run_of_inputs
cat >"$T/reads.c" <<'CODE'
#include <stdio.h>
#include <vestige/vestige.h>

int main(int argc, char **argv)
{
    struct vs_diag diag = {0};
    struct vs_batch batch;
    struct vs_reader *r;
    unsigned long loads = 0, events = 0;

    if (argc != 2 || vs_run_open(&r, argv[1], VS_OPEN_STRICT, &diag) < 0) {
        puts(diag.text);
        return 1;
    }
    while (vs_reader_next(r, &batch) > 0)
        for (size_t i = 0; i < batch.count; i++, events++)
            loads += batch.events[i].kind == VS_LOAD;
    printf("%lu %lu\n", events, loads);
    vs_reader_close(r);
    return 0;
}
CODE
# shellcheck disable=SC2046
run $CC -std=c11 -Wall -Wextra -Werror -pedantic $(pkg-config --cflags vestige) -o "$T/reads" "$T/reads.c" \
    $(pkg-config --libs vestige)
expect_status 0
"$root/usr/bin/vestige" record -q --inputs -o "$T/short.vest" -- true
run env LD_LIBRARY_PATH="$lib" "$T/reads" "$T/short.vest"
expect_status 0
expect_equal "$(cat "$out")" "$("$root/usr/bin/vestige" info --json "$T/short.vest" |
    jq -r '"\(.events) \(.counts.kinds.load)"')"
mkdir "$lib/triplet" && cp -P "$lib"/libvestige.so* "$lib/triplet" # as Debian has it
run env LD_LIBRARY_PATH="$lib/triplet" "$T/reads" "$T/short.vest"
expect_status 0
mv "$lib/vestige" "$lib/elsewhere"
run env LD_LIBRARY_PATH="$lib" "$T/reads" "$T/short.vest"
expect_status 1
expect_out 'install all of vestige$'
mv "$lib/elsewhere" "$lib/vestige"

begin links_static_through_pkg_config
rm "$lib"/libvestige.so*
# shellcheck disable=SC2046
run $CC $(pkg-config --cflags vestige) -o "$T/static" "$T/user.c" \
    $(pkg-config --static --libs vestige)
expect_status 0
run "$T/static" "$T/static.vest"
expect_status 0
installed_version
expect_equal "$(cat "$out")" "$version rv64"

begin exports_only_its_own_names
run nm -D --defined-only "$VESTIGE_BUILD/lib/libvestige.so"
expect_status 0
expect_out ' T vs_version@@VESTIGE_0.1$'
expect_equal "$(awk '$2 != "A" { sub(/@.*/, "", $NF); print $NF }' "$out" | sort)" \
    "$(sed -n '/VS_API/{s/.*[ *]\(vs_[a-z_0-9]*\)(.*/\1/p}' "$VESTIGE_SRC"/include/vestige/*.h | sort)" names

begin needs_only_what_runs_need
run readelf -d "$VESTIGE_BUILD/lib/libvestige.so"
expect_status 0
expect_equal "$(sed -n 's/.*(NEEDED).*\[\(.*\)\.so.*/\1/p' "$out" | sort | paste -sd ' ')" "ld-linux-x86-64 libZydis libbz2 libc libdw libelf liblzma libm libz libzstd" libraries

for header in "$include"/vestige/*.h; do
    begin "compiles_alone_${header##*/}"
    echo "#include <vestige/${header##*/}>" >"$T/alone.c"
    run $CC -std=c11 -Wall -Wextra -Werror -pedantic -I"$include" -fsyntax-only "$T/alone.c"
    expect_status 0
done

finish
