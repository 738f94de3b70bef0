#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: manifest.seeds.sh DIR: lists as they are written, and others that mean the same or are refused.
set -eu

dir=$1
cat >"$dir/written" <<'END'
{
  "version": 1,
  "processes": [
    {
      "process": 1,
      "parent": null,
      "pid": 100,
      "parent_pid": 99,
      "file": "1.vest",
      "command": "sh -c 'a | b'",
      "started": 0.000,
      "ended": 1.500,
      "exit": 0,
      "incomplete": null,
      "instructions": 1234,
      "events": 567,
      "bytes": 8900
    },
    {
      "process": 2,
      "parent": 1,
      "pid": 101,
      "file": null,
      "incomplete": "killed before it began"
    }
  ]
}
END
printf '{"new":[[{}],true,false,"\\ud83d\\ude00\\n"],"version":1,"processes":[{"process":1,"file":"\\u0031.vest"}]}' >"$dir/other"
printf '{"version":1,"processes":[{"process":1,"file":"../1.vest"}]}' >"$dir/outside"
printf '{"version":2}' >"$dir/version"
