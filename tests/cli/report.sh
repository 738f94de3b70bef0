#!/bin/bash
# SPDX-License-Identifier: MIT
# Pages that show runs: their figures are those of other commands, and a browser shows them. With VESTIGE_LONG=1 also those
# of a run of 10^8 instructions.
. "$(dirname "$0")/lib.sh"

cd "$T" || exit 2
fft=$(workload rv64 fft)
"$VESTIGE" record -q -o timed.vest --cores 8 --timed -- "$fft" -p 8 -n 6 >"$out" 2>&1 || exit 2
"$VESTIGE" record -q -o other.vest --cores 8 --timed --seed 5 -- "$fft" -p 8 -n 6 >"$out" 2>&1 || exit 2

# figures PAGE: the data in it.
figures() {
    sed -n '/^<script type="application\/json" id="data">$/,/^<\/script>$/p' "$1" | sed '1d;$d'
}

# ---- what is in the file

begin sums_up_to_what_other_commands_count
run "$VESTIGE" report timed.vest -o timed.html
expect_status 0
expect_no_out
expect_no_err
figures timed.html >figures.json
run "$VESTIGE" bandwidth --json --buffer 1:4096 timed.vest
expect_status 0
jq -s 'map({name: .technique, bits, messages, gates, dropped: .buffer.dropped_bits, lost: .buffer.dropped_messages})' "$out" >counted.json
expect_equal "$(jq length counted.json)" 12
expect_equal "$(jq -c '[.runs[0].techniques | (.quarters | index(4)) as $w | (.quarters | length) as $n | .rows[] |
    {name, bits, messages, gates, dropped: .lost[$w], lost: .lost_messages[$w]}]' figures.json)" "$(jq -c . counted.json)" "techniques"
run "$VESTIGE" bandwidth --json --buffer 1 timed.vest
expect_equal "$(jq -c '[.runs[0].techniques | (.quarters | index(4)) as $w | .rows[].largest[$w]]' figures.json)" "$(jq -sc 'map(.buffer.largest)' "$out")" "largest occupancy"
run "$VESTIGE" info --json timed.vest
expect_equal "$(jq -c '.runs[0] | [.instructions, .thread_count, (.kinds | map({(.[0]): .[1]}) | add | .load, .store)]' figures.json)" \
    "$(jq -c '[.instructions, (.threads | length), .counts.kinds.load, .counts.kinds.store]' "$out")" "info"

begin loses_no_bit_between_tables
expect_equal "$(jq -c '.runs[0] | . as $r | [.techniques.rows[] | .bits == (.fields | add) and .bits == (.windows | add)] +
    [.routines, .lines, .flame | .values | to_entries[] |
        (.value | add) == (if .key == 0 then $r.instructions elif .key == 1 then $r.branches_at.mispredicted else $r.techniques.rows[.key - 2].bits end)] +
    [(.timeline.channels.instructions | add) == .instructions, (.timeline.channels.mispredicted | add) == .branches_at.mispredicted,
     ([.memory.heat[] | .loads[], .stores[]] | add) == .memory.loads + .memory.stores] | [length == 57, all]' figures.json)" '[true,true]'
# occupancy over time has its largest value where it says
expect_equal "$(jq -c '[.runs[0].techniques.rows[] | [.largest, (.occupancy | map(max))] | .[0] == .[1]] | all' figures.json)" true

begin says_how_two_runs_differ
run "$VESTIGE" report timed.vest other.vest -t mcfTR_e -o two.html
expect_status 0
figures two.html >two.json
run "$VESTIGE" diff --json timed.vest other.vest
expect_equal "$(jq -c '[.parting | .compared, .different, (.differing[] | .thread, .position)]' two.json)" \
    "$(jq -c '[.compared, ([.threads[] | select(.equal | not)] | length, (.[] | .thread, .position))]' "$out")"
run "$VESTIGE" report timed.vest timed.vest -t mcfTR_e -f -o two.html
figures two.html >two.json
expect_equal "$(jq -c '.parting | [.different, .compared > 1000]' two.json)" '[0,true]'

begin shows_a_part_and_what_was_asked_for
"$VESTIGE" record -q -o inputs.vest -- /bin/true || fail "not recorded"
run "$VESTIGE" report -f --skip 1000 --length 5000 -t mcfTR_e:small -t daNX inputs.vest -o part.html
expect_status 0
expect_equal "$(figures part.html | jq -c '.runs[0] | [.instructions, [.techniques.rows[] | .name + ":" + .config]]')" \
    '[5000,["mcfTR_e:small","daNX:default","mcfNX_b:default"]]'
"$VESTIGE" record -q --control-only -o flow.vest --cores 1 -- "$fft" -n 4 >"$out" 2>&1
run "$VESTIGE" report flow.vest -o flow.html
expect_status 0
expect_equal "$(figures flow.html | jq '[.runs[0].techniques.rows[].serves] | max')" 1
run "$VESTIGE" report flow.vest -f -t mc2RT -o flow.html
expect_status 2
expect_one_line_err

# The points of the page, with all figures, are the sums of the table, and its frontier is that of the table.
begin shows_what_a_sweep_found
cat >points.ini <<'END'
[sweep]
constraint = gates<=120k
columns    = kind run technique config bits bits_per=bpi_millionths gates spec rebuild
[runs]
file = timed.vest
file = other.vest
[techniques]
mcfTR_e:gshare=256..2048*2,ras=4|8
mcfTA
bTMBP
END
run "$VESTIGE" sweep --json --page points.html -f points.ini
expect_status 0
expect_no_err
figures points.html >points.json
expect_equal "$(jq -c '.sweep.points[] | [.technique, .config] + .cells' points.json)" \
    "$(jq -c 'select(.kind == "sum") | [.technique, .config, .bits, .bits_per, .gates, .spec]' "$out")" "points"
[ "$(jq '.sweep.points | length' points.json)" -ge 4 ] || fail "few points"
run "$VESTIGE" sweep --json --frontier points.ini
expect_equal "$(jq -c '.sweep.points | map(select(.frontier)) | sort_by(.x) | .[] | [.technique, .config, .x, .y]' points.json)" \
    "$(jq -c 'select(.kind == "sum") | [.technique, .config, .bits_per, .gates]' "$out")" "frontier"
run "$VESTIGE" sweep --json --status points.ini
expect_equal "$(jq -c '.sweep | [.runs, .point_count, .excluded, .done, .failed, .missing, .constraints, .objectives]' points.json)" \
    "$(jq -c '[.runs, .points, .excluded, .done, .failed, .missing, ["gates<=120k"], ["bpi_millionths", "gates"]]' "$out")" "state"
run "$VESTIGE" sweep --page points.html points.ini
expect_status 2
expect_one_line_err
expect_err 'points\.html: exists; -f replaces it'
run "$VESTIGE" sweep --page none/points.html points.ini
expect_status 2
expect_one_line_err

begin refuses_what_it_cannot_write
run "$VESTIGE" report timed.vest
expect_status 2
expect_one_line_err
expect_err "-o FILE says where"
run "$VESTIGE" report timed.vest -o timed.html
expect_status 2
expect_one_line_err
run "$VESTIGE" report timed.vest -f -o timed.vest
expect_status 2
expect_one_line_err
run "$VESTIGE" report timed.vest -o none/timed.html
expect_status 2
expect_one_line_err
head -c 20000 timed.vest >cut.vest
run "$VESTIGE" report cut.vest -o cut.html
expect_status 1
expect_one_line_err
[ -e cut.html ] || [ "$("$VESTIGE" info --no-scan --json cut.vest 2>"$err" | jq .threads[0].events)" = null ] || fail "what there is of it is not shown"
run "$VESTIGE" report timed.vest none.vest -o none.html
expect_status 2
expect_no_file none.html
expect_no_file none.html.partial

# ---- hostile names

# A program with routines of such names, in a file of such a name, with such arguments.
# shellcheck disable=SC2016 # for the assembler
hostile() {
    local script='<script>document.title=1</script><img src=x onerror=document.title=2>' long
    long=$(head -c 1000000 /dev/zero | tr '\0' 'n')
    {
        echo '.globl _start'
        echo '_start: mov $40, %ebx'
        echo "again: call \"$script\""
        printf 'call "\xff\xfe<b>\xc3"\n'
        echo "call \"<i>$long\""
        echo 'dec %ebx; jnz again; mov $60, %eax; xor %edi, %edi; syscall'
        echo ".type \"$script\", @function; \"$script\": mov (%rsp), %rax; ret"
        printf '.type "\xff\xfe<b>\xc3", @function; "\xff\xfe<b>\xc3": ret\n'
        echo ".type \"<i>$long\", @function; \"<i>$long\": ret"
    } >hostile.s
    gcc -nostdlib -static -o '<img src=x onerror=document.title=3>' hostile.s 2>"$err" || return
    "$VESTIGE" record -q --all -o hostile.vest -- './<img src=x onerror=document.title=3>' '</script><script>document.title=4</script><!--' \
        "$(printf '\xe2\x80\xa8\xff\xc0')" "$(head -c 100000 /dev/zero | tr '\0' '<')" >"$out" 2>&1
}

begin keeps_hostile_names_short_and_out_of_the_page
hostile || fail "no such program"
run "$VESTIGE" report hostile.vest -o hostile.html
expect_status 0
[ "$(stat -c %s hostile.html)" -lt 3000000 ] || fail "it is too large"
figures hostile.html >hostile.json
expect_equal "$(jq '[.. | strings | length] | max <= 1024' hostile.json)" true
expect_equal "$(jq -c '.runs[0].routines.names | map(.[0]) | [any(startswith("<script>document.title=1</script>")), any(startswith("<i>nnnn")), any(contains("<b>"))]' hostile.json)" '[true,true,true]'
expect_equal "$(grep -c '[<]' hostile.json)" 0 "lines of the data with <"
iconv -f utf-8 -t utf-16 hostile.html >/dev/null || fail "it is not UTF-8"

# ---- in a browser

. "$VESTIGE_SRC/tests/browser.sh"
begin starts_a_browser
missing=$(browser_programs)
[ -z "$missing" ] || { skip "there is no $(paste -sd ' ' <<<"$missing")" && finish; }
trap 'end_browser; rm -rf "$T" "$_work"' EXIT
start_browser 1300 900

# open_page FILE: and draws everything.
open_page() {
    open_file "$T/$1"
    expect_equal "$(js 'return document.body.dataset.drawn')" '"1"' "drawn"
}

# expect_quiet: the console has nothing.
expect_quiet() {
    expect_equal "$(console)" '[]' "console"
}

# A chart or table of each section, none of which is wider than the page.
whole_page() {
    expect_equal "$(js 'return Array.from(document.querySelectorAll("main section")).filter((s) => !s.querySelector("svg, canvas, .rows, table")).map((s) => s.id)')" "${1:-[]}" "empty sections"
    expect_equal "$(js 'return document.documentElement.scrollWidth <= innerWidth')" true "no wider than the window"
    expect_equal "$(js 'return document.querySelector("main").textContent.match(/.{0,40}(NaN|(?<!-)undefined|Infinity|\[object).{0,20}/g)')" null "text of figures that are none"
    expect_quiet
}

begin draws_a_timed_run_with_eight_cores
open_page timed.html
whole_page
expect_equal "$(js 'return document.querySelectorAll("main section").length')" 8

begin zooms_with_buttons_and_keys
before=$(js 'const c = document.querySelector("#timeline canvas"); return c.dataset.to - c.dataset.from')
click '#timeline button[aria-label="Zoom in"]'
keys '#timeline canvas' '+'
expect_equal "$(js 'const c = document.querySelector("#timeline canvas"); return Math.round('"$before"' / (c.dataset.to - c.dataset.from))')" 4
keys '#timeline canvas' '0'
expect_equal "$(js 'const c = document.querySelector("#timeline canvas"); return c.dataset.to - c.dataset.from')" "$before"
click '#hot .flame g:last-of-type rect'
expect_equal "$(js 'return document.querySelector("#hot button").disabled')" false "a part of the flame graph"
keys '#hot .flame rect[tabindex="0"]' $'\xee\x80\x8c'
expect_equal "$(js 'return document.querySelector("#hot button").disabled')" true "all of the flame graph, after Escape"

begin sorts_and_filters
column() { js 'return Array.from(document.querySelectorAll("#techniques tbody tr")).map((r) => +r.cells[r.cells.length - 2].textContent.replace(/,/g, ""))'; }
click '#techniques th:nth-last-child(2) button'
expect_equal "$(column | jq -c '[length == 12, . == (sort | reverse)]')" '[true,true]' "falling"
click '#techniques th:nth-last-child(2) button'
expect_equal "$(column | jq -c '[length == 12, . == sort]')" '[true,true]' "rising"
keys '#techniques input' mlvcf
expect_equal "$(js 'return Array.from(document.querySelectorAll("#techniques tbody tr")).map((r) => r.cells[0].textContent).sort()')" '["mlvCF_b","mlvCF_e"]'

begin switches_techniques_ports_and_quantities
choose source-technique 11
expect_equal "$(js 'return document.querySelector("#sources th:nth-child(3)").textContent')" '"bits of daFilter:adac ↓"'
click '#bits button:nth-child(2)'
expect_equal "$(js 'return document.querySelector("#bits .legend").textContent.includes("mc2RT")')" true
choose metric 1
expect_equal "$(js 'return document.querySelector("#hot th:nth-child(3)").textContent')" '"mispredicted branches ↓"'
click '#branches tbody button'
expect_equal "$(js 'return document.querySelector("#branches .detail pre .here").textContent.length > 3')" true "code of a branch"
click '#theme'
expect_equal "$(js 'return document.documentElement.dataset.theme')" '"dark"'
expect_quiet

begin prints
pdf=$(in_session POST /print '{}' | jq -r .)
expect_equal "$(head -c 400000 <<<"$pdf" | base64 -d 2>/dev/null | head -c 5)" '%PDF-'
[ ${#pdf} -gt 50000 ] || fail "a document of ${#pdf} characters"
expect_equal "$(js 'return document.documentElement.dataset.theme')" '"dark"' "as before"
expect_quiet

begin shows_hostile_names_as_text
open_page hostile.html
expect_equal "$(js 'return [document.querySelectorAll("main script, main img, main b i").length, document.scripts.length]')" '[0,3]'
expect_equal "$(js 'return document.title')" '"Vestige: hostile.vest"'
expect_equal "$(js 'return [/<script>document.title=1/, /<i>nnnn/, /<\/script><script>document.title=4/].map((r) => r.test(document.querySelector("main").textContent))')" '[true,true,true]'
whole_page

begin compares_runs
open_page two.html
choose run 1
expect_equal "$(js 'return [document.body.dataset.drawn, document.querySelector("#comparison").textContent.includes("all are equal")]')" '["2",true]'
whole_page
open_page flow.html
whole_page '["memory"]'
open_page part.html
whole_page

begin draws_a_tiny_run
"$VESTIGE_GEN" -o tiny.vest --seed 1 --events 40 >"$out" || fail "not generated"
run "$VESTIGE" report tiny.vest -o tiny.html
expect_status 0
open_page tiny.html
whole_page
expect_equal "$(js 'return document.querySelector("#what .tile").title')" "\"$(grouped "$("$VESTIGE" info --json tiny.vest | jq .instructions)")\""

begin draws_a_sweep
open_page points.html
whole_page
expect_equal "$(js 'return document.title')" '"Vestige: points.ini"'
expect_equal "$(js 'return document.querySelectorAll("#sweep .points circle").length')" "$(jq '.sweep.points | length' points.json)"
expect_equal "$(js 'return document.querySelector("#sweep .constraints").textContent')" '"gates<=120k"'
expect_equal "$(js 'return Array.from(document.querySelectorAll("#sweep tbody tr")).map((r) => r.cells[0].textContent + " " + r.cells[2].textContent)')" \
    "$(jq -c '.sweep.points | sort_by(.x) | map(.technique + (if .config == "default" then "" else ":" + .config end) + " " + (.cells[0] | tostring))' points.json |
        sed -E ':a; s/([0-9])([0-9]{3})(,[0-9]{3})*"/\1,\2\3"/; ta')" "the table by bits"
click '#sweep th:nth-child(3) button'
click '#sweep th:nth-child(3) button'
expect_equal "$(js 'return Array.from(document.querySelectorAll("#sweep tbody tr")).map((r) => +r.cells[2].textContent.replace(/,/g, ""))' | jq -c '[length > 3, . == sort]')" '[true,true]'
keys '#sweep input' tmbp
expect_equal "$(js 'return Array.from(document.querySelectorAll("#sweep tbody tr")).map((r) => r.cells[0].textContent)')" '["bTMBP"]'
click '#sweep tbody tr'
expect_equal "$(js 'return document.querySelectorAll("#sweep .points circle[r=\"8\"]").length')" 1 "the point that was chosen"
expect_quiet

if [ -z "$brief" ]; then
    begin draws_a_native_run_with_thirty_threads
    "$VESTIGE" record -q --all -o threads.vest -- "$(workload host radiosity)" -p 30 -n 4 >"$out" 2>&1 || fail "not recorded"
    run "$VESTIGE" report threads.vest -o threads.html
    expect_status 0
    open_page threads.html
    whole_page
    expect_equal "$(js 'return [data.runs[0].timeline.lanes, document.querySelectorAll("#memory svg rect").length]')" '[30,900]'
fi

if [ -n "$long" ]; then
    begin draws_a_run_of_a_hundred_million_instructions
    "$VESTIGE" record -q --all -o long.vest -- "$(workload host tree)" -n 200 >"$out" 2>&1 || fail "not recorded"
    run "$VESTIGE" report long.vest -o long.html
    expect_status 0
    [ "$(stat -c %s long.html)" -lt 5000000 ] || fail "it is too large"
    open_page long.html
    whole_page
    expect_equal "$(js 'return data.runs[0].instructions > 1e8')" true
fi

finish
