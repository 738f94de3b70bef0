#!/bin/bash
# SPDX-License-Identifier: MIT
# tools/deps against a package manager of our own, in which $T/absent lists what is not installed.
. "$(dirname "$0")/lib.sh"

mkdir "$T/bin"
fake() {
    cat >"$T/bin/$1"
    chmod +x "$T/bin/$1"
}
fake dpkg-query <<CODE
#!/bin/sh
status=0
for word; do
    case \$word in -* | *:*) continue ;; esac
    if grep -qx "\$word" "$T/absent"; then status=1; else echo "installed:\$word"; fi
done
exit \$status
CODE
fake apt-get <<CODE
#!/bin/sh
echo "\$@" >>"$T/apt"
[ ! -e "$T/apt-fails" ]
CODE
fake id <<CODE
#!/bin/sh
cat "$T/uid"
CODE
fake sudo <<CODE
#!/bin/sh
[ -e "$T/sudo-works" ] || exit 1
echo "\$@" >>"$T/sudo"
shift
"\$@"
CODE

# given UID ABSENT...
given() {
    rm -f "$T"/{apt,apt-fails,sudo,sudo-works}
    echo "$1" >"$T/uid"
    shift
    printf '%s\n' "$@" >"$T/absent"
}
deps() {
    run env PATH="$T/bin:$PATH" sh "$VESTIGE_SRC/tools/deps" "$@"
}

begin says_nothing_when_all_is_there
given 0 ''
deps --install
expect_status 0
expect_no_out
expect_no_err
expect_no_file "$T/apt"

begin check_names_the_missing
given 0 jq libzstd-dev
deps --check
expect_status 2
expect_err 'missing Debian packages: libzstd-dev jq$'
expect_err 'apt-get install .* libzstd-dev jq$'
expect_no_file "$T/apt"

begin check_minds_the_purpose
given 0 jq
deps --check build
expect_status 0
given 0 jq gcc
deps --check build
expect_status 2
expect_err 'missing Debian packages: gcc$'

begin install_refuses_without_root
given 1000 jq libzstd-dev
deps --install
expect_status 2
expect_err 'missing Debian packages: libzstd-dev jq$'
expect_no_file "$T/apt"

begin install_as_root_asks_for_exactly_these
given 0 jq libzstd-dev
deps --install
expect_status 0
expect_equal "$(grep -c . "$T/apt")" 2 "calls of apt-get"
expect_equal "$(sed -n 's/.* update$/update/p' "$T/apt")" update
expect_equal "$(sed -n 's/.* install -y --no-install-recommends //p' "$T/apt")" "libzstd-dev jq"

begin install_says_first_what_and_why
given 0 jq libzstd-dev zstd qemu-user
touch "$T/apt-fails"
deps --install build check bench
expect_equal "$(sed -n 's/^vestige: installing.* missing for \(.*\) (.*): /\1: /p' "$out")" \
    "build, bench, check: libzstd-dev zstd qemu-user jq"

begin install_goes_through_sudo
given 1000 jq
touch "$T/sudo-works"
deps --install
expect_status 0
expect_file "$T/sudo"
expect_equal "$(sed -n 's/.* install -y --no-install-recommends //p' "$T/apt")" jq

begin install_reports_a_failing_apt
given 0 jq
touch "$T/apt-fails"
deps --install
expect_status 2
expect_err 'apt-get failed; missing Debian packages: jq$'

# What make check-long starts would be skipped, or fail, without its packages.
begin the_long_check_installs_what_its_tests_need
purposes=$(sed -n '/^check-long:/,/^$/s:.*tools/deps --install ::p' "$VESTIGE_SRC/Makefile")
for purpose in check cluster; do
    case " $purposes " in *" $purpose "*) ;; *) fail "check-long does not install $purpose: '$purposes'" ;; esac
done

begin stands_aside_where_there_is_no_dpkg
mkdir "$T/few"
ln -s "$(command -v dirname)" "$T/few/dirname"
run env PATH="$T/few" /bin/sh "$VESTIGE_SRC/tools/deps" --install
expect_status 0
expect_no_err

finish
