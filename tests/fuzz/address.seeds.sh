#!/bin/bash
# SPDX-License-Identifier: MIT
# usage: address.seeds.sh DIR: runs and streams for every technique (see address.c).
exec bash "$(dirname "$0")/data.seeds.sh" "$1" address
