#!/bin/bash
# SPDX-License-Identifier: MIT
# mcfTrace and mlsTrace: descriptors against what `vestige dump` says of the same run.
. "$(dirname "$0")/lib.sh"

MCF=$VESTIGE_BUILD/bin/mcfTrace MLS=$VESTIGE_BUILD/bin/mlsTrace
cd "$T" || exit 2
"$VESTIGE_GEN" -o a.vest --seed 7 --threads 3 --events 30000 >"$out" || exit 2
"$VESTIGE" dump --full a.vest >all.txt || exit 2

# same GOT WANTED: two files, which are not empty.
same() {
    [ -s "$2" ] || fail "nothing to compare with: $2"
    cmp -s "$1" "$2" || fail "$1 differs from $2: $(diff "$2" "$1" | head -n 4)"
}

# descriptors KINDS [SKIP [LENGTH]]: from the lines of the dump, those of kinds (a pattern) in the window.
# The number of an event's instruction is that of its thread's last event that retired some.
descriptors() {
    awk -v kinds="^($1)\$" -v skip="${2:-0}" -v most="${3:--1}" '
        { sub(/:.*/, "", $2); n = substr($NF, 2) + 0; now += n; if (n) at[$2] = now }
        at[$2] <= skip || (most >= 0 && at[$2] > skip + most) || $3 !~ kinds { next }
        { thread = substr($2, 2) }
        $3 == "branch" {
            class = "U, D, T"
            if ($5 == "ijump" || $5 == "icall" || $5 == "ret" || $5 == "ret-call") class = "U, I, T"
            if ($5 == "cond") class = "C, D, " ($6 == "taken" ? "T" : "NT")
            for (i = 5; $i != "->"; i++);
            print thread ", " $4 ", " $(i + 1) ", " class
            next
        }
        {
            addr = substr($5, 2, 18)
            print thread ", " ($3 == "load" ? "L" : "S") ", " $4 ", " addr ", " $6 ", " $8
        }' all.txt
}

# Binary descriptors of a file as ASCII ones.
mcf_text() {
    od -An -v -tu1 -w18 "$1" | awk '
        function number(from, i, s) {
            s = "0x"
            for (i = from + 7; i >= from; i--) s = s sprintf("%02x", $i)
            return s
        }
        BEGIN { split("U, I, T;U, D, T;C, D, T;C, D, NT", class, ";") }
        { print $1 ", " number(2) ", " number(10) ", " class[$18 + 1] }'
}

# mls_text FILE STORE
mls_text() {
    od -An -v -tu1 -w1 "$1" | awk -v store="$2" '
        function byte() { return (getline line) > 0 ? line + 0 : -1 }
        function number(i, s) {
            s = ""
            for (i = 0; i < 8; i++) s = sprintf("%02x", byte()) s
            return "0x" s
        }
        function value(n, s) { s = ""; while (n-- > 0) s = s sprintf("%02x", byte()); return s }
        BEGIN {
            while ((thread = byte()) >= 0) {
                kind = store ? (byte() ? "S, " : "L, ") : ""
                pc = number(); addr = number(); size = byte()
                v = value(size)
                print thread ", " kind pc ", " addr ", " (store ? size ", " : "") "0x" v
            }
        }'
}

# ---- descriptors --------------------------------------------------------------------------------

descriptors branch >want.mcf
descriptors 'load|store' >want.mls
descriptors load | sed -E 's/, L,/,/; s/, [0-9]+, (0x[0-9a-f]*)$/, \1/' >want.loads

begin writes_branches_as_text
run "$MCF" -a -o t -i a.vest
expect_status 0
expect_no_err
expect_out '^mcfTrace: Writing to text file: t\.txt$'
expect_out '^mcfTrace descriptor: ThreadID, Instruction Address, Target Address, Type&Outcome$'
expect_equal "$(grep -c '^mcfTrace: thread begin [0-9]* [0-9]*$' "$out")" 3
same t.txt want.mcf

begin writes_branches_in_binary
run "$MCF" -o t -i a.vest
expect_status 0
expect_out '^mcfTrace: Writing to binary file: t\.bin$'
expect_equal "$(stat -c %s t.bin)" $((18 * $(wc -l <want.mcf)))
mcf_text t.bin >got
same got want.mcf

begin writes_operands_as_text
run "$MLS" -a -store -o t -i a.vest
expect_status 0
expect_out '^mlsTrace descriptor: ThreadID, Load/Store, Instruction Address, Operand Address, Operand Size, Value$'
same t.txt want.mls
run "$MLS" -a -o t -i a.vest
expect_status 0
expect_out '^mlsTrace descriptor: ThreadID, Instruction Address, Operand Address, Value$'
same t.txt want.loads

begin writes_operands_in_binary
run "$MLS" -store -o t -i a.vest
expect_status 0
mls_text t.bin 1 >got
same got want.mls
run "$MLS" -o t -i a.vest
expect_status 0
mls_text t.bin 0 >got
same got want.loads

begin counts_what_info_counts
run "$MCF" -o t -i a.vest
classes=$("$VESTIGE" info --json a.vest | jq -r '.counts.branches.classes |
    "\(.unconditional_direct) \(.conditional_direct_taken) \(.conditional_direct_not_taken) \(.unconditional_indirect)"')
expect_equal "$(awk '/^\t/ { printf "%s%s", s, $1; s = " " }' t.Statistics)" "$classes" classes
instructions=$("$VESTIGE" info --json --no-scan a.vest | jq .instructions)
grep -qx "mcfTrace: Traced $instructions instructions" t.Statistics || fail "another number of instructions"
grep -qx "mcfTrace: Number of Threads: 3" t.Statistics || fail "another number of threads"
grep -qE '^mcfTrace: Instrumentation Time: [0-9]+\.[0-9]{2} ms$' t.Statistics || fail "no time"
run "$MLS" -store -o t -i a.vest
sizes=$("$VESTIGE" info --json a.vest | jq -r '.counts | [.loads, .stores] |
    map(.sizes | "\(.["1"]) \(.["2"]) \(.["4"]) \(.["8"]) \(.["10"]) \(.["16"]) \(.["32"]) \(.other)") | join(" ")')
expect_equal "$(awk '/^\t/ { printf "%s%s", s, $1; s = " " }' t.Statistics)" "$sizes" sizes
awk '/^\t/ && !/^\t[0-9]+ \( %[0-9]+\.[0-9][0-9] \) [A-Z]/ { exit 1 }' t.Statistics || fail "a row of another form"
awk '/^\t/ { sum += substr($3, 2) } END { exit !(sum > 199.8 && sum < 200.2) }' t.Statistics ||
    fail "shares do not add up"

begin keeps_to_a_window
for window in '0 1000' '1 1' '777 12345' '5000 99999999' '20001 2'; do
    read -r skip length <<<"$window"
    descriptors branch "$skip" "$length" >want
    run "$MCF" -a -s "$skip" -l "$length" -o t -i a.vest
    expect_status 0
    cmp -s t.txt want || fail "-s $skip -l $length: $(diff want t.txt | head -n 4)"
    descriptors 'load|store' "$skip" "$length" >want
    run "$MLS" -a -store -s "$skip" -l "$length" -o t -i a.vest
    expect_status 0
    cmp -s t.txt want || fail "mls -s $skip -l $length: $(diff want t.txt | head -n 4)"
done
run "$MCF" -s 777 -l 1K -o t -i a.vest
grep -qx 'mcfTrace: Traced 1024 instructions' t.Statistics || fail "not 1024 instructions"
grep -qx 'mcfTrace: Skipped 777 instructions' t.Statistics || fail "not 777 skipped"

begin keeps_to_the_main_image
read -r start length < <("$VESTIGE" dump --images --json a.vest | jq -r '"\(.start) \(.length)"' | head -n 1)
awk -F', ' -v lo="$(printf '0x%016x' "$start")" -v hi="$(printf '0x%016x' $((start + length)))" \
    '$2 >= lo && $2 < hi' want.mcf >want
run "$MCF" -a -filter_no_shared_libs -o t -i a.vest
expect_status 0
same t.txt want

begin stops_at_a_size
"$VESTIGE_GEN" -o b.vest --seed 9 --events 80000 --control-only >"$out"
run "$MCF" -f 1 -o t -i b.vest
expect_status 0
expect_out '^mcfTrace: stopped at 1 million bytes \(-f\)$'
expect_equal "$(stat -c %s t.bin)" 999990
run "$MCF" -a -f 1 -o t -i b.vest
expect_equal "$(tail -c 1 t.txt | od -An -tx1 | tr -d ' ')" 0a
[ "$(stat -c %s t.txt)" -le 1000000 ] || fail "too large"

# ---- files ----------------------------------------------------------------------------------------

begin runs_as_a_command
run "$MLS" -a -store -o one -i a.vest
run "$VESTIGE" mlsTrace -a -store -o two -i a.vest
expect_status 0
same two.txt one.txt
ln -s "$MCF" elsewhere
run ./elsewhere -a -o two -i a.vest
expect_status 2
mkdir other && ln -s "$VESTIGE" other/mcfTrace
PATH=$PWD/other:$PATH run mcfTrace -a -o two -i a.vest
expect_status 0
same two.txt want.mcf

begin names_files_by_the_time
mkdir named && cd named || exit 2
run "$MCF" -i ../a.vest
expect_status 0
name=$(echo mcfTrace.out*.bin)
[[ $name =~ ^mcfTrace\.out20[0-9]{2}_1?[0-9]_[1-3]?[0-9]_[12]?[0-9]\.[1-5]?[0-9]\.[1-5]?[0-9]\.bin$ ]] ||
    fail "named $name"
expect_file "${name%.bin}.Statistics"
expect_equal "$(find . -type f | wc -l)" 2 files
cd .. || exit 2

begin replaces_files_of_that_name
echo old >t.bin
echo old >t.Statistics
run "$MCF" -o t -i a.vest
expect_status 0
mcf_text t.bin >got
same got want.mcf
grep -q old t.Statistics && fail "old statistics"

for pair in bzip2:bz2:bzip2 pbzip2:bz2:bzip2 gzip:gz:gzip pigz:gz:gzip xz:xz:xz zstd:zst:zstd; do
    IFS=: read -r name suffix expand <<<"$pair"
    begin "compresses_with_$name"
    if ! command -v "$name" >/dev/null || ! command -v "$expand" >/dev/null; then
        skip "there is no $name, or no $expand"
        continue
    fi
    run "$MCF" -a -c "$name" -o "$name" -i a.vest
    expect_status 0
    expect_no_err
    expect_out "^mcfTrace: Writing to text file: $name\.txt\.$suffix$"
    expect_no_file "$name.txt.$suffix.partial"
    expect_file "$name.Statistics"
    "$expand" -dc <"$name.txt.$suffix" >got
    same got want.mcf
done

# A compressor that does as the text of a script says.
compressor() {
    mkdir -p bin
    printf '#!/bin/sh\n%s\n' "$1" >bin/gzip
    chmod +x bin/gzip
}
# refuses_compressor NAME PATTERN: one line; no file is left.
refuses_compressor() {
    expect_status 2
    expect_one_line_err
    expect_err "$1"
    [ -z "$(echo q.*)" ] || [ "$(echo q.*)" = 'q.*' ] || fail "left behind: $(echo q.*)"
}

begin refuses_a_missing_compressor
mkdir none
run env PATH="$PWD/none" "$MCF" -c gzip -o q -i a.vest
refuses_compressor '^vestige mcfTrace: q\.bin\.gz: run gzip: No such file or directory$'

begin reports_a_compressor_that_fails
compressor 'cat >/dev/null; exit 3'
PATH=$PWD/bin:$PATH run "$MCF" -c gzip -o q -i a.vest
refuses_compressor '^vestige mcfTrace: q\.bin\.gz: gzip ended with status 3$'

begin reports_a_compressor_that_goes_away
"$VESTIGE_GEN" -o large.vest --seed 9 --events 400000 --control-only >"$out"
compressor 'kill -KILL $$'
PATH=$PWD/bin:$PATH run "$MCF" -a -c gzip -o q -i large.vest
refuses_compressor 'gzip was killed by signal 9$'
compressor 'exec <&-; exit 4'
PATH=$PWD/bin:$PATH run "$MCF" -a -c gzip -o q -i large.vest
refuses_compressor 'gzip ended with status 4$'

# It takes a part of a write and leaves: the write is a success, and yet the signal comes.
compressor 'head -c 100000 >/dev/null; exit 5'
for _ in 1 2 3; do
    PATH=$PWD/bin:$PATH run "$MCF" -a -c gzip -o q -i large.vest
    refuses_compressor 'gzip ended with status 5$'
done

begin keeps_messages_out_of_the_trace
closed() { "$@" >&-; }
run closed "$MCF" -a -o t -i a.vest
same t.txt want.mcf
run closed "$MCF" -a -c gzip -o t -i a.vest
gzip -dc <t.txt.gz >got
same got want.mcf

begin reports_a_full_disk
full() (
    trap '' XFSZ
    ulimit -f 200
    "$MCF" -a -o q -i large.vest
)
run full
expect_status 2
expect_err '^vestige mcfTrace: .*q\.txt.*File too large'
expect_no_file q.txt
expect_no_file q.txt.partial
expect_no_file q.Statistics

begin reports_a_place_that_is_not_there
run "$MCF" -o no/such/place -i a.vest
expect_status 2
expect_one_line_err
expect_err 'no/such/place\.bin: .*No such file or directory$'

begin converts_what_a_cut_file_holds
"$VESTIGE_GEN" -o whole.vest --seed 7 --threads 3 --events 30000 --chunk-events 4000 >"$out"
head -c $(($(stat -c %s whole.vest) * 2 / 3)) whole.vest >cut.vest
run "$MCF" -a -o cut -i cut.vest
expect_status 1
expect_one_line_err
expect_err '^vestige mcfTrace: cut\.vest: incomplete: '
expect_file cut.Statistics
lines=$(wc -l <cut.txt)
[ "$lines" -gt 100 ] || fail "only $lines descriptors"
head -n "$lines" want.mcf >want
same cut.txt want

begin refuses_a_damaged_file
cp whole.vest bad.vest
printf 'XXXX' | dd of=bad.vest bs=1 seek=$(($(stat -c %s bad.vest) / 2)) conv=notrunc status=none
run "$MLS" -o bad -i bad.vest
expect_status 1
expect_one_line_err
expect_err '^vestige mlsTrace: bad\.vest: chunk '
expect_no_file bad.bin
expect_no_file bad.bin.partial
expect_no_file bad.Statistics

# ---- programs that are run -----------------------------------------------------------------------

cc=$(sed -n 's/^CC=//p' "$VESTIGE_BUILD/config")
# build NAME [OPTION...]: the program NAME, from its text on standard input.
build() {
    local name=$1
    shift
    cat >"$name.c"
    # shellcheck disable=SC2086 # a compiler may have options
    $cc -O1 -o "$name" "$name.c" "$@" || exit 2
}
build threads -pthread <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *work(void *n) {
    for (int k = 0; k < 20; k++, usleep(100))
        for (volatile long i = 0; i < (long)n; i++);
    return 0;
}
int main(void) {
    pthread_t t[6];
    for (long i = 0; i < 6; i++) pthread_create(t + i, 0, work, (void *)5000);
    for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
    return 5;
}
EOF

begin skips_over_all_threads
for skip in 1 400001 1000001; do
    run "$MCF" -s $skip -l 50000 -o t -- ./threads
    expect_status 5
    expect_no_err
    grep -qx 'mcfTrace: Traced 50000 instructions' t.Statistics || fail "-s $skip: $(head -n 2 t.Statistics)"
    grep -qx "mcfTrace: Skipped $skip instructions" t.Statistics || fail "-s $skip: $(head -n 2 t.Statistics)"
    [ -s t.bin ] || fail "-s $skip: no descriptors"
done
run "$MCF" -s 1G -o t -- ./threads
expect_status 5
grep -qx 'mcfTrace: Traced 0 instructions' t.Statistics || fail "something was traced"
grep -qE 'Skipped [1-9][0-9]{6,} instructions' t.Statistics || fail "$(head -n 2 t.Statistics)"

begin passes_on_how_a_program_ended
run "$MLS" -o t -- sh -c 'exit 7'
expect_status 7
expect_no_err
expect_file t.Statistics
run "$MCF" -o t -- sh -c '(sleep 0.2; kill -KILL $$) & wait'
expect_status 137
expect_err '^vestige: the program was killed; what was captured is in the file$'
expect_file t.bin

begin says_that_it_was_interrupted
interrupted() {
    rm -f ready
    "$MCF" -o t -- sh -c ': >ready; while :; do :; done' &
    local traced=$!
    await test -e ready
    kill -TERM $traced
    wait $traced
}
run interrupted
[ "$status" -ge 128 ] || fail "exit status $status"
expect_err '^vestige: interrupted; what was captured is in the file$'
expect_file t.Statistics

begin refuses_a_routine_that_no_image_has
rm -f t.*
run "$MCF" -filter_rtn nosuch -o t -- ./threads
expect_status 2
expect_one_line_err
expect_err "^vestige mcfTrace: no routine 'nosuch' in the program or its libraries"
[ "$(echo t.*)" = 't.*' ] || fail "left behind: $(echo t.*)"

# Programs, and libraries, of which one takes the place of another: at the same address, another routine.
build first <<'EOF'
#include <unistd.h>
__attribute__((noinline)) int early(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(int c, char **v) { early(10); execv(v[1], v + 1); return 9; }
EOF
build second <<'EOF'
__attribute__((noinline)) int late(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i * i; return s; }
int main(void) { late(3000); return 0; }
EOF
build one.so -shared -fPIC <<'EOF'
int one(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
EOF
build two.so -shared -fPIC <<'EOF'
int two(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
EOF
build loads -ldl <<'EOF'
#include <dlfcn.h>
static void *call(const char *file, const char *name, int n) {
    void *h = dlopen(file, RTLD_NOW);
    int (*f)(int) = (int (*)(int))dlsym(h, name);
    f(n);
    dlclose(h);
    return (void *)f;
}
int main(void) { return call("./one.so", "one", 10) != call("./two.so", "two", 3000); }
EOF
"$VESTIGE" record --control-only -f -o exec.vest -- ./first ./second 2>"$err" || exit 2
"$VESTIGE" record --control-only -f -o loads.vest -- ./loads 2>"$err" || exit 2

# within LOW HIGH ARGUMENT...: the tool writes so many descriptors.
within() {
    local low=$1 high=$2 n
    shift 2
    run "$MCF" -a -o t "$@"
    expect_status 0
    n=$(wc -l <t.txt)
    [ "$n" -ge "$low" ] && [ "$n" -le "$high" ] || fail "$n descriptors, expected $low to $high: $*"
}
begin follows_an_exec
for from in '-i exec.vest' './first ./second'; do
    # shellcheck disable=SC2086 # words
    within 10 20 -filter_rtn early $from
    # shellcheck disable=SC2086
    within 3000 3010 -filter_rtn late $from
    # shellcheck disable=SC2086
    within 3020 3200 -filter_no_shared_libs $from
done

begin follows_libraries
for from in '-i loads.vest' ./loads; do
    # shellcheck disable=SC2086 # words
    within 10 20 -filter_rtn one $from
    # shellcheck disable=SC2086
    within 3000 3010 -filter_rtn two $from
done

begin refuses_a_run_without_loads
run "$MLS" -o q -i b.vest
expect_status 2
expect_one_line_err
expect_err '^vestige mlsTrace: b\.vest: was recorded without loads$'
expect_no_file q.bin

# ---- flags ----------------------------------------------------------------------------------------

for flag in -h -help --help; do
    begin "helps_with_$flag"
    run "$MLS" $flag
    expect_status 0
    expect_no_err
    expect_out '^usage: vestige mlsTrace '
    expect_out '^  -filter_rtn NAME  '
    expect_out '^  -store  '
done

# refuses NAME PATTERN ARGUMENT...
refuses() {
    local pattern=$2
    begin "refuses_$1"
    shift 2
    run "$MCF" "$@"
    expect_status 2
    expect_no_out
    expect_one_line_err
    expect_err "^vestige mcfTrace: $pattern"
}
refuses no_arguments "nothing to trace: a PROGRAM or -i RUN is missing"
refuses a_run_and_a_program "'prog' is one too many" -i a.vest prog -a
refuses a_run_and_a_program_after_dashes "'prog' is one too many" -i a.vest -- prog -a
refuses a_flag_of_the_other_tool "unknown option '-store'" -store -i a.vest
refuses a_mistyped_flag "unknown option '-filter_rnt'; did you mean '-filter_rtn'\?$" -filter_rnt f -i a.vest
refuses joined_letters "unknown option '-ad'" -ad -i a.vest
refuses an_unknown_compressor "-c: 'lzma' is not one of bzip2, pbzip2, gzip, pigz, xz, zstd$" -c lzma -i a.vest
refuses a_size_of_0 "-f: '0' is not between 1 and " -f 0 -i a.vest
refuses a_length_of_0 "-l: '0' is not between 1 and " -l 0 -i a.vest
refuses a_skip_that_is_no_number "-s: 'x' is not a number$" -s x -i a.vest
refuses a_flag_without_value "-o: needs a value \(NAME\)$" -i a.vest -o
refuses disassembly_in_binary "-d: .*give -a too$" -d -i a.vest
refuses a_missing_run "none\.vest: .*No such file or directory$" -i none.vest
refuses too_many_routines "-filter_rtn: given more than 64 times$" $(printf -- '-filter_rtn f%d ' $(seq 65)) -i a.vest

begin leaves_nothing_but_its_files
expect_equal "$(find . -name '*.partial')" "" partials

finish
