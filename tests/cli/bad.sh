#!/bin/bash
# SPDX-License-Identifier: MIT
# Damaged files, and what is no file: status 1 or 2, one line that says why, nothing worse.
. "$(dirname "$0")/lib.sh"

"$VESTIGE_GEN" -o "$T/a.vest" --seed 21 --threads 3 --events 3000 --timed --chunk-events 1000 \
    >"$out" || exit 2
size=$(stat -c %s "$T/a.vest")

# number OFFSET BYTES: a little-endian number in a.vest.
number() {
    od -An -tu"$2" -j "$1" -N "$2" "$T/a.vest" | tr -d ' '
}

# The offsets of all chunks, the index among them.
chunks=()
for ((at = 32; at + 32 < size; at += 32 + $(number $((at + 16)) 8))); do
    chunks+=("$at")
done
last=${chunks[${#chunks[@]} - 1]}

# flip OFFSET: bad.vest is a.vest with that byte changed.
flip() {
    local byte
    cp "$T/a.vest" "$T/bad.vest"
    byte=$(number "$1" 1)
    # shellcheck disable=SC2059
    printf "$(printf '\\x%02x' $((byte ^ 0x10)))" |
        dd of="$T/bad.vest" bs=1 seek="$1" conv=notrunc status=none
}

# expect_refusal: one line on stderr, from vestige and no sanitizer.
expect_refusal() {
    expect_one_line_err
    expect_err '^vestige [a-z]+: [^ ]+: .*[a-z]'
    ! grep -aqE 'Sanitizer|runtime error' "$err" "$out" || fail "sanitizer text"
}

as=() # what runs them

# expect_kind NAME FILE: what a program that reads JSON is told.
expect_kind() {
    expect_equal "$("$VESTIGE" check --json "$2" 2>/dev/null | jq -r .error)" "$1"
}

# refuse STATUS FILE: all commands, each with that status.
refuse() {
    local command
    for command in info dump check; do
        run "${as[@]}" "$VESTIGE" $command "$2"
        expect_status "$1"
        expect_refusal
    done
}

begin finds_the_sections
expect_equal "$(number "$last" 4)" "$(number 32 4)" "magic of the last chunk"
expect_equal "$(number $((last + 4)) 1)" 4 "type of the last chunk"
[ ${#chunks[@]} -ge 6 ] || fail "only ${#chunks[@]} chunks"
for command in info dump check; do
    run "$VESTIGE" $command "$T/a.vest"
    expect_status 0
    expect_no_err
done

begin refuses_a_flipped_byte_of_the_header
for at in 0 4 8 12 20 31; do
    flip $at
    refuse 1 "$T/bad.vest"
    expect_no_out
done

begin refuses_a_flipped_byte_of_each_chunk_header
for at in "${chunks[@]}"; do
    for byte in 0 8 17; do
        flip $((at + byte))
        refuse 1 "$T/bad.vest"
    done
done

begin refuses_a_flipped_byte_of_each_payload
for at in "${chunks[@]}"; do
    length=$(number $((at + 16)) 8)
    for byte in 0 $((length - 1)); do
        flip $((at + 32 + byte))
        refuse 1 "$T/bad.vest"
    done
done

begin refuses_a_flipped_byte_of_the_trailer
for byte in 0 8 16 30; do
    flip $((size - 32 + byte))
    refuse 1 "$T/bad.vest"
done

begin names_the_damaged_chunk
for ((i = 0; i < ${#chunks[@]}; i++)); do
    flip $((chunks[i] + 40))
    run "$VESTIGE" check "$T/bad.vest"
    expect_status 1
    expect_err "chunk $i at offset ${chunks[i]}: .*checksum differs"
done

begin prints_what_precedes_the_damage
flip $((last - 5))
run "$VESTIGE" dump "$T/bad.vest"
expect_status 1
expect_refusal
lines=$(wc -l <"$out")
[ "$lines" -gt 1000 ] || fail "only $lines lines"
run "$VESTIGE" dump "$T/a.vest"
head -n "$lines" "$out" >"$T/expected"
run "$VESTIGE" dump "$T/bad.vest"
cmp -s "$out" "$T/expected" || fail "not the first lines of the whole run"

begin reads_a_cut_file_as_far_as_it_goes
for at in "${chunks[@]}" $((size - 32)) $((size - 1)); do
    for less in 0 1 16; do
        head -c $((at - less)) "$T/a.vest" >"$T/bad.vest"
        [ $((at - less)) -ge 32 ] || continue
        refuse 1 "$T/bad.vest"
        expect_kind VSE_TRUNCATED "$T/bad.vest"
    done
done

begin refuses_a_file_shorter_than_a_header
for length in 0 1 8 31; do
    head -c $length "$T/a.vest" >"$T/bad.vest"
    refuse 1 "$T/bad.vest"
    expect_no_out
done

begin refuses_other_files
echo 'This is a text, long enough to hold a header and more, but no recorded run.' >"$T/text"
refuse 1 "$T/text"
expect_kind VSE_FORMAT "$T/text"
expect_no_out
head -c 100000 /dev/zero >"$T/zeros"
refuse 1 "$T/zeros"
refuse 1 "$VESTIGE"

begin refuses_bytes_after_the_end
{ cat "$T/a.vest" && printf 'x'; } >"$T/bad.vest"
refuse 1 "$T/bad.vest"
{ cat "$T/a.vest" "$T/a.vest"; } >"$T/bad.vest"
refuse 1 "$T/bad.vest"

# header VERSION NEEDS FEATURES CHECKSUM: bad.vest begins with another header, right by itself.
header() {
    cp "$T/a.vest" "$T/bad.vest"
    # shellcheck disable=SC2059
    printf "\\x89VEST\\r\\n\\x1a$1$2$3\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0$4" |
        dd of="$T/bad.vest" conv=notrunc status=none
}

begin refuses_other_versions
header '\xff\xff' '\xff\xff' '\0\0\0\0' '\xa1\xf5\x20\xa8'
refuse 1 "$T/bad.vest"
expect_kind VSE_VERSION "$T/bad.vest"
header '\0\0' '\0\0' '\0\0\0\0' '\x60\x5c\x1a\xeb'
refuse 1 "$T/bad.vest"
expect_kind VSE_VERSION "$T/bad.vest"

begin refuses_unknown_features
header '\xff\xff' '\x01\0' '\0\0\0\x80' '\x8e\xca\x89\x17'
refuse 1 "$T/bad.vest"
expect_kind VSE_FEATURE "$T/bad.vest"

begin refuses_what_is_no_file
refuse 2 "$T"
refuse 2 "$T/none"
refuse 2 /dev/null
mkfifo "$T/pipe"
refuse 2 "$T/pipe"
ln -s loop "$T/loop"
refuse 2 "$T/loop"

# Root may read everything, unless it does without what allows that.
begin refuses_a_file_that_it_may_not_read
cp "$T/a.vest" "$T/shut"
chmod 0 "$T/shut"
[ "$(id -u)" != 0 ] || as=(setpriv --bounding-set=-dac_override,-dac_read_search)
if "${as[@]}" cat "$T/shut" >/dev/null 2>&1 || ! "${as[@]}" true; then
    skip "this user can read every file"
else
    refuse 2 "$T/shut"
fi
as=()

begin says_what_reads_the_other_kind_of_file
"$VESTIGE" encode -t mcfNX_b -o "$T/a.vport" "$T/a.vest" >"$out" || fail "not encoded"
for command in info dump check bandwidth verify entropy locality compressors "report -o $T/x.html" 'chunks -t mcfNX_b' 'export --to csv -o -' 'mcfTrace -i'; do
    # shellcheck disable=SC2086 # words
    run "$VESTIGE" $command "$T/a.vport"
    expect_status 1
    expect_one_line_err
    expect_err "a\.vport: .*not a \.vest file.*; it is a port stream: decode, replay, debug and 'verify --stream' read it\$"
done
run "$VESTIGE" decode "$T/a.vest"
expect_status 1
expect_one_line_err
expect_err "a\.vest: .*; it is a run: 'vestige encode' makes a \.vport file of it\$"

# keeps FILE COMMAND...: what is read is not what is written.
keeps() {
    local file=$1
    cp "$file" "$T/before"
    shift
    run "$@"
    expect_status 2
    expect_one_line_err
    expect_err "is what is read; choose another name for the output"
    cmp -s "$file" "$T/before" || fail "$file was replaced"
}

begin never_replaces_what_it_reads
for name in t.bin t.Statistics; do
    cp "$T/a.vest" "$T/$name"
    keeps "$T/$name" "$VESTIGE" mcfTrace -o "$T/t" -i "$T/$name"
done
cp "$T/a.vest" "$T/plot.vest"
keeps "$T/plot.vest" "$VESTIGE" bandwidth -t mcfNX_b -f --plot "$T/plot.vest" "$T/plot.vest"
keeps "$T/plot.vest" "$VESTIGE" encode -f -t mcfNX_b -o "$T/plot.vest" "$T/plot.vest"
for name in u.txt u.Statistics; do
    echo 'a line' >"$T/$name"
    keeps "$T/$name" "$VESTIGE" tmcfTRaptor --o "$T/u" "$T/$name"
    keeps "$T/$name" "$VESTIGE" tmlvCFiat --o "$T/u" "$T/$name"
done

# wrong PATTERN ARGUMENT...: a call that is refused, in one line that says what would do.
wrong() {
    local pattern=$1
    shift
    run timeout 20 "$VESTIGE" "$@"
    expect_status 2
    expect_no_out
    expect_one_line_err
    expect_err "^vestige[ a-zA-Z]*: .*$pattern"
}

begin refuses_wrong_calls
run_=$T/a.vest
"$VESTIGE" encode -t mlvNX_b -o "$T/data.vport" "$run_" >"$out" || fail "not encoded"
wrong "no technique 'nope'; there are: .*see 'vestige techniques'" bandwidth -t nope "$run_"
wrong "no configuration 'nope'; there are: small" verify -t mcfTR_e:nope "$run_"
wrong "gshare is a number from 1 to [0-9]+, not '-1'" bandwidth -t mcfTR_e:gshare=-1 "$run_"
wrong "gshare is a power of two, not 3" bandwidth -t mcfTR_e:gshare=3 "$run_"
wrong "mix and sets need at least 2, or none" bandwidth -t mcfTA:8K,sets=1 "$run_"
wrong "one -t says what encodes it" encode -o "$T/x.vport" "$run_"
wrong "-o says where the stream goes" encode -t mcfNX_b "$run_"
wrong "No such file or directory" encode -t mcfNX_b -o "$T/no/x.vport" "$run_"
wrong "not a regular file" encode -f -t mcfNX_b -o "$T" "$run_"
wrong "give one of them" encode -t pt -o "$T/x" --raw "$T/y" "$run_"
wrong "mcfNX_b has no streams that other decoders read" encode -t mcfNX_b --raw "$T/x" "$run_"
wrong "No such file or directory" encode -t pt --raw "$T/no/x" "$run_"
wrong "no description is beside .*: --from says what the streams are" import -o "$T/x.vest" "$run_"
wrong "-o says where the run goes" import --from pt "$run_"
for command in resume pause; do
    wrong "'x' is not a process ID" $command x
    wrong "'-1' is not a process ID" $command -- -1
    wrong "process $$ is neither a 'vestige record --paused' nor its program" $command $$
    wrong "PROCESS is missing" $command
    wrong "'2' is one too many" $command 1 2
done
wrong "no technique 'nope'" import --from nope -o "$T/x.vest" "$run_"
wrong "mcfTR_e has no streams that are written elsewhere" import --from mcfTR_e -o "$T/x.vest" "$run_"
wrong "no instruction set 'nope' is known" import --from pt --isa nope -o "$T/x.vest" "$run_"
wrong "says where the code is" import --from pt -o "$T/x.vest" "$run_"
wrong "what follows the @ is no address" import --from pt --image "$run_@x" -o "$T/x.vest" "$run_"
wrong "No such file or directory" import --from pt --image "$T/none" -o "$T/x.vest" "$run_"
wrong "No such file or directory" import --from pt --sidecar "$T/none" -o "$T/x.vest" "$run_"
wrong "No such file or directory" import --from perf -o "$T/x.vest" "$T/none"
wrong "takes one file" import --from perf -o "$T/x.vest" "$run_" "$run_"
wrong "No such file or directory" import --from pt --image "$(workload host fft)" -o "$T/no/x.vest" "$run_"
wrong "-o FILE says where the page goes" report "$run_"
wrong "No such file or directory" report -o "$T/no/x.html" "$run_"
wrong "no technique 'nope'" report -t nope -o "$T/x.html" "$run_"
wrong "'0' is not between 1 and" bandwidth --window 0 "$run_"
wrong "'-5' is not a number" bandwidth --window -5 "$run_"
wrong "does not fit in 64 bits" bandwidth --window 99999999999999999999 "$run_"
wrong "as in 1, 1/4" sweep --store "$T/x" --set buffer=0 -t mcfTR_e "$run_"
wrong "no key 'nope' in" sweep --store "$T/x" --set nope=1 -t mcfTR_e "$run_"
wrong "there is no technique" sweep --store "$T/x" "$run_"
wrong "is more than one line" sweep --store "$T/x" -t $'mcfTR_e\nmcfTA' "$run_"
wrong "the range '2..1' is empty" sweep --store "$T/x" -t mcfTR_e:ras=2..1 "$run_"
wrong "cannot make the folder" sweep --store "$run_" -t mcfTR_e "$run_"
wrong "--as: 'program' is not the whole path" record --as program -o "$T/x.vest" "$(workload rv64 fft)"
wrong "--as is for simulated programs" record --as /bin/program -o "$T/x.vest" /bin/true
wrong "as in 1, 1/4" bandwidth --buffer 0 "$run_"
wrong "is not PERIOD:LENGTH" bandwidth --sample 5 "$run_"
wrong "are for" bandwidth --warm 5 "$run_"
wrong "excludes --skip and --length" bandwidth --windows "$run_" --skip 5 "$run_"
wrong "record it with --inputs" bandwidth --skip 5 "$run_"
wrong "record it with --inputs" expand --skip 5 -o "$T/x.vest" "$run_"
wrong "'0' is not between 1 and" expand --length 0 -o "$T/x.vest" "$run_"
wrong "is not an address" expand --from 0xg -o "$T/x.vest" "$run_"
wrong "No such file or directory" expand --windows "$T/none" -o "$T/x.vest" "$run_"
wrong "not two numbers" expand --windows <(echo 5) -o "$T/x.vest" "$run_"
wrong "exclude each other" bandwidth --csv --json "$run_"
wrong "b.vest is missing|missing" diff "$run_"
wrong "--to says which format" export -o "$T/x.csv" "$run_"
wrong "no format 'lakey'; did you mean 'lackey'" export --to lakey -o "$T/x.csv" "$run_"
wrong "no format 'nope'; 'vestige export --help' lists them" export --to nope -o "$T/x.csv" "$run_"
wrong "-o FILE says where the csv goes" export --to csv "$run_"
wrong "No such file or directory" export --to csv -o "$T/no/x.csv" "$run_"
wrong "not a regular file" export --to csv -f -o "$T" "$run_"
wrong "csv shows the bits of 0 techniques" export --to csv -t pt -o "$T/x.csv" "$run_"
wrong "holds x86-64 instructions only, and the run has" export --to champsim -o "$T/x.csv" "$run_"
wrong "no thread 99; the run has" export --to csv --thread 99 -o "$T/x.csv" "$run_"
wrong "record it with --inputs" export --to csv --skip 5 -o "$T/x.csv" "$run_"
wrong "--folded excludes --json" info --folded --json "$run_"
wrong "--no-scan excludes --callers" info --no-scan --callers "$run_"
wrong "--by: .*'place'" bandwidth --by place "$run_"
wrong "--top is for --by" bandwidth --top 3 "$run_"
wrong "excludes --by" bandwidth --by line --sample 5K:1K "$run_"
wrong "is not one of Ti, " chunks -t mcfNX_b --field nope "$run_"
wrong "'65' is not between 1 and 64" simulate --cores 65 prog
wrong "MiB of memory" simulate --set memory=16G "$(workload rv64 fft)"
wrong "there are: cs32" simulate --preset nope "$(workload rv64 fft)"
wrong "Is a directory" simulate --platform "$T" "$(workload rv64 fft)"
wrong "No such file" simulate "$T/none"
wrong "No such file" record -o "$T/x.vest" "$T/none"
wrong "'0' is not between 1 and" record --length 0 prog
wrong "no folder; with --follow" record --follow -o "$run_" true
wrong "'0' is not between 1 and" record --follow --length 0 prog
wrong "for native programs" record --follow -o "$T/x.vest" "$(workload rv64 fft)"
mkdir "$T/folder"
for command in info check verify bandwidth "debug --stdio"; do
    # shellcheck disable=SC2086 # words
    wrong "a folder without runs; 'vestige record --follow' makes" $command "$T/folder"
done
cp "$run_" "$T/folder/1.vest"
wrong "there is no process 2" debug --stdio --process 2 "$T/folder"
wrong "takes a number, not 'x'" debug --stdio --process x "$T/folder"
wrong "is for a folder of runs" debug --stdio --process 1 "$run_"
wrong "neither N nor CORE:N" replay --until x --code "$run_" "$T/data.vport"
wrong "is not \[HOST:\]PORT" debug --listen 99999 --code "$run_" "$T/data.vport"
wrong "is not between 1048576 and" debug --memory 1 --code "$run_" "$T/data.vport"
wrong "no thread 99; the run has" dump --thread 99 "$run_"
wrong "unknown option '--nope'; see 'vestige locality --help'" locality --nope "$run_"
wrong "no command 'nope'; 'vestige help' lists them" nope
wrong "run.vest.* is missing; see 'vestige info --help'" info
wrong "a PROGRAM or -i RUN is missing" mcfTrace -o "$T/t"
wrong "'3' is not one of 0, 256" mcfTRaptor -gshare 3 -i "$run_"
wrong "says where the trace goes" tmTrace --mcf prog
expect_no_file "$T/x.vport"
expect_no_file "$T/x.html"
expect_no_file "$T/x.vest"
expect_no_file "$T/x.csv"

begin salvages_all_chunks_before_the_damage
flip $((last - 5))
run "$VESTIGE" dump --salvage "$T/bad.vest"
expect_status 1
expect_refusal
lines=$(wc -l <"$out")
run "$VESTIGE" info --salvage --json "$T/bad.vest"
expect_status 1
expect_equal "$(jq '.events > 1000' "$out")" true
[ "$lines" -gt 1000 ] || fail "only $lines lines"

finish
