#!/bin/bash
# SPDX-License-Identifier: MIT
# Every serial workload, recorded.
. "$(dirname "$0")/lib.sh"

record_workloads serial
finish
