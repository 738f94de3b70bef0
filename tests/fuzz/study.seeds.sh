#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: study.seeds.sh DIR: studies with all that they may have, others that are refused, and a file of results.
set -eu

dir=$1
cat >"$dir/whole" <<'END'
# everything
[variables]
folder = build
[sweep]
columns = run, threads technique bits bits_dCC conditional bpi_millionths rebuild
minimise = bpc_millionths storage_bits
group = parallel
window = 100K
buffer = 1/4:4Ki:stall
verify = sample 5
search = random
budget = 1000
seed = 0x10
batch = 12
sums = no
constraint = storage<=16Ki
constraint = gates < 20k
constraint = gshare>=512
[runs parallel]
file = {folder}/*.vest
[record]
options = --cores {threads} '{mode}'
as = /bin/program
[record fft]
threads = 1..8*2
mode = plain:|timed:--timed
group = parallel t{threads}
command = {folder}/fft -n "4" -p {threads}
[techniques]
all
mcfTR_e
mcfTR_e:gshare=256..8192*2,ras=4|8..16+4,hash=*
mcfTA:2K|8K,(ittage=0|ittage=32,loops=0)
END
printf '[techniques]\nmcfTR_e:gshare=8..4' >"$dir/empty"
printf '[techniques]\nmcfTR_e:gshare=1..18446744073709551615*2' >"$dir/far"
printf '[techniques]\nmcfTR_e:ras=0..99999999' >"$dir/many"
printf '[record x' >"$dir/open"
printf '[sweep]\nconstraint = gates<=99999999999999999999k' >"$dir/over"
printf 'vestige results 1\nversion 0.1.0\nrun 12\nwith window=0 buffer=none\nunit a\n= bits 1\nproof b\n! no\nend 00000000\n' >"$dir/results"
