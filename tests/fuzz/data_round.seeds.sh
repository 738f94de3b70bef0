#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: data_round.seeds.sh DIR: runs for every technique (see data_round.c).
exec bash "$(dirname "$0")/data.seeds.sh" "$1" data_round
