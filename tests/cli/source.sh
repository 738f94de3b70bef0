#!/bin/bash
# SPDX-License-Identifier: MIT
# Routines, files, lines and instructions of what ran, as other tools find them in the same files.
. "$(dirname "$0")/lib.sh"

P=$VESTIGE_SRC/tests/programs
cd "$T" || exit 2
has_program g++ || skip_all "there is no g++"
has_program addr2line || skip_all "there is no addr2line"
cp "$P/real_source.cc" .
g++ -O1 -g -o plain real_source.cc || exit 2
objcopy --only-keep-debug plain split.debug &&
    objcopy --strip-all --add-gnu-debuglink=split.debug plain split || exit 2
strip -o bare plain || exit 2
for name in plain split bare; do
    "$VESTIGE" record -q -o $name.vest -- ./$name 4 6 >"$name.out" || exit 2
done

# within RUN PROGRAM: sets $range to the addresses of the program's code, and $base.
within() {
    "$VESTIGE" dump --json --images "$1" >images
    read -r range base < <(jq -r --arg name "/$2" 'select(.path | endswith($name)) | "\(.start) \(.length) \(.base)"' images |
        { read -r start length base; printf '0x%x-0x%x %s\n' $((start)) $((start + length - 1)) "$base"; })
}

# places: image, address, routines and lines in the JSON lines on standard input, each once.
places() {
    jq -r --arg name "/$1" 'select(.source.image // "" | endswith($name)) | .source |
        [.address, (.frames[] | "\(.routine)", "\(.file):\(.line)")] | join(" | ")' | sort -u
}

# ours RUN PROGRAM: what dump says about the program's code, as others do below.
ours() {
    within "$1" "$2"
    run "$VESTIGE" dump --source --json --pc "$range" "$1"
    expect_status 0
    places "$2" <"$out"
}

# theirs PROGRAM: the same by addr2line, of the addresses on standard input.
theirs() {
    addr2line -a -i -f -C -e "$1" | sed -e 's/ (discriminator [0-9]*)$//' -e "s,^$T/,," |
        awk '/^0x/ { if (NR > 1) print line; sub(/^0x0*/, "0x"); line = $0; next } { line = line " | " $0 } END { print line }'
}

begin tells_routines_and_lines_as_addr2line
ours plain.vest plain | grep -v ':null' >all
[ "$(wc -l <all)" -gt 200 ] || fail "too little has lines"
[ "$(grep -c '|.*|.*|.*|' all)" -gt 20 ] || fail "too little is inlined"
# Others have other names for what was inlined: with return types, or those of the nearest symbol.
lines_only() {
    awk -F ' [|] ' '{ printf "%s", $1; for (i = 3; i <= NF; i += 2) printf " | %s", $i; print "" }'
}
cut -d ' ' -f 1 all | theirs plain | grep -v ':?$' | sort | lines_only >wanted
lines_only <all | diff wanted - >"$out" || fail "others find something else"
grep -q '| shop::item::cost(int) const | real_source.cc:2[0-9] | shop::refusing::visit(int, shop::item const&) | real_source.cc:' all || fail "an inlined routine has no name"

begin reads_separate_debug_files
ours split.vest split | grep -v ':null' >separate
diff all separate >"$out" || fail "the same program has other lines"

begin does_without_debug_information
ours bare.vest bare >nothing
[ "$(wc -l <nothing)" -gt 200 ] || fail "nothing is left"
expect_equal "$(grep -vc ':null$' nothing)" 0

begin says_what_has_no_debug_information
for name in plain split bare; do
    run "$VESTIGE" info --json --no-scan $name.vest
    expect_equal "$(jq --arg name "/$name" '.images[] | select(.path | endswith($name)).debug_info' "$out")" \
        "$([ $name = bare ] && echo false || echo true)" $name
done
run "$VESTIGE" info bare.vest
expect_out '/bare  \(no debug information\)$'
run "$VESTIGE" record -f -o again.vest -- ./bare 1 1
expect_err '^vestige: no debug information, hence no source lines: bare(, |$)'
run "$VESTIGE" record -f -o again.vest -- ./plain 1 1
! grep -q 'source lines: plain' "$err" || fail "it has debug information"

begin shows_where_routines_begin
run "$VESTIGE" info --source --json plain.vest
jq -r '.counts.routines[] | select(.image | endswith("/plain")) | "\(.name) \(.file):\(.line)"' "$out" >begins
run "$VESTIGE" info --json plain.vest
expect_equal "$(jq '.counts.routines[0] | has("file")' "$out")" false
run "$VESTIGE" info --source plain.vest
expect_equal "$(jq -n '[inputs]' <(sed 's/.*/"&"/' begins) | jq length)" "$(grep -c '  (plain)  .*real_source.cc:[0-9]*$\|  (plain)  .*:[0-9]*$' "$out")"

begin shows_instructions_as_objdump
within plain.vest plain
run "$VESTIGE" dump --disassemble --kind branch --pc "$range" plain.vest
sed -n 's/^.* branch *0x\([0-9a-f]*\) .*  +[0-9]*  | \([a-z]*\).*/\1 \2/p' "$out" | sort -u | while read -r pc name; do
    printf '%x %s\n' $((0x$pc - base)) "$name"
done | sort >branches
[ "$(wc -l <branches)" -gt 30 ] || fail "no instructions"
objdump -d -M intel --no-show-raw-insn plain | sed -n 's/^ *\([0-9a-f]*\):\t\(notrack \|bnd \)\?\([a-z]*\).*/\1 \3/p' | sort >objdump
# names that are the same instruction
join branches objdump | sed -e 's/\<jz\>/je/g; s/\<jnz\>/jne/g; s/\<jnbe\>/ja/g; s/\<jnb\>/jae/g; s/\<jnle\>/jg/g; s/\<jnl\>/jge/g' >both
expect_equal "$(awk '$2 != $3' both)" ""
expect_equal "$(wc -l <both)" "$(wc -l <branches)" "instructions that objdump has, too"

begin decodes_with_lines
run "$VESTIGE" encode -t mcfTR_e -o plain.vport plain.vest
run "$VESTIGE" decode --source --disassemble --json plain.vport
places plain <"$out" | grep -v ':null' >decoded
[ "$(wc -l <decoded)" -gt 50 ] || fail "too little is decoded"
expect_equal "$(comm -23 decoded all | wc -l)" 0 "branches whose lines are other ones than in the run"
expect_equal "$(jq -c 'select(.kind == "branch" and (.insn | not))' "$out" | head -n 1)" "" "branches without instruction"

begin starts_anywhere_with_the_same_lines
run "$VESTIGE" dump --source --json --pc "$range" --limit 2000 plain.vest
tail -n 20 "$out" >part
run "$VESTIGE" dump --source --json --pc "$range" --from "$(head -n 1 part | jq .event)" --limit 20 plain.vest
cmp -s part "$out" || fail "it depends on where it starts"

begin keeps_images_apart_from_what_an_expanded_run_has
"$VESTIGE" expand -o whole.vest plain.vest >"$out" || fail "not expanded"
ours whole.vest plain | grep -v ':null' >expanded
cmp -s all expanded || fail "the events themselves have other lines"

begin names_the_line_of_what_differs
"$VESTIGE" record -q -f -o again.vest -- ./plain 4 7 >"$out" 2>&1 || fail "not recorded"
run "$VESTIGE" verify --stream plain.vport again.vest
expect_status 1
expect_one_line_err
expect_err ': mcfTR_e .*: core 0, step [0-9]+: .* after [0-9]+ \([a-zA-Z_][^()]*.*\)$'

begin tells_nothing_about_a_file_that_changed
g++ -O2 -g -o plain real_source.cc || fail "not compiled"
expect_equal "$(ours whole.vest plain | grep -vc ':null$')" 0

finish
