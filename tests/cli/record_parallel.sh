#!/bin/bash
# SPDX-License-Identifier: MIT
# Every parallel workload, recorded.
. "$(dirname "$0")/lib.sh"

record_workloads parallel
finish
