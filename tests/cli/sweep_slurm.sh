#!/bin/bash
# SPDX-License-Identifier: MIT
# A sweep on a Slurm cluster of two nodes on loopback, with a key, configuration and state of its own in a temporary
# folder: the same bytes as on one machine, also if a node goes down, a slurmd, a task or the submitter is killed, or the
# controller is restarted. With VESTIGE_LONG=1 alone.
. "$(dirname "$0")/lib.sh"

[ -n "$long" ] || skip_all "make check-long starts a cluster"
[ -z "$sanitized" ] || skip_all "the cluster does not depend on the build"
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch squeue scontrol scancel; do
    command -v $program >/dev/null || skip_all "there is no $program: tools/deps --install cluster"
done

D=$T/cluster ME=$(id -un) H=$(hostname -s)
export SLURM_CONF=$D/slurm.conf
mkdir -p "$D"/{munge,state,spool/n1,spool/n2,log,run}
chmod 755 "$T" "$D"
chmod 700 "$D/munge"
head -c 128 /dev/urandom >"$D/munge/key"
chmod 400 "$D/munge/key"

# configure PORT: that and the next two are the controller's and the nodes'.
configure() {
    local port=$1
    cat >"$SLURM_CONF" <<END
ClusterName=t
SlurmctldHost=$H(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$ME
SlurmdUser=$ME
AuthType=auth/munge
AuthInfo=socket=$D/run/munge.socket,cred_expire=5
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool/%n
SlurmctldPidFile=$D/run/slurmctld.pid
SlurmdPidFile=$D/run/slurmd-%n.pid
SlurmctldLogFile=$D/log/slurmctld.log
SlurmdLogFile=$D/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0,bf_interval=2
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=10
MinJobAge=300
KillWait=2
JobRequeue=1
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=$H NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 RealMemory=1000 State=UNKNOWN
NodeName=n2 NodeHostname=$H NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=p Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
}

end_cluster() {
    local file
    scancel -f --user="$ME" 2>/dev/null
    for file in "$D"/run/*.pid; do
        [ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null
    done
}
trap 'end_cluster; sleep 1; rm -rf "$T" "$_work"' EXIT

munged --key-file="$D/munge/key" --socket="$D/run/munge.socket" --pid-file="$D/run/munged.pid" \
    --log-file="$D/log/munged.log" --seed-file="$D/run/seed" || exit 2

# A port may be another program's: then the controller ends, or does not answer.
is_answered() {
    for _ in {1..30}; do
        scontrol ping 2>/dev/null | grep -q ' is UP' && return
        sleep 0.5
    done
    return 1
}
for attempt in {1..5}; do
    configure $((20000 + ($$ + 4321 * attempt) % 20000))
    slurmctld -c && is_answered && slurmd -N n1 && slurmd -N n2 && break
    [ "$attempt" -lt 5 ] || exit 2
    for file in "$D"/run/slurm*.pid; do
        [ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null
    done
done

cd "$T" || exit 2
fft=$(workload rv64 fft)
for n in 8 9; do
    "$VESTIGE" record -q --control-only --cores 2 -o "fft$n.vest" -- "$fft" -n $n -p 2 >"$out" || exit 2
done
cat >s.ini <<'END'
[runs]
file = fft*.vest
[techniques]
mcfTR_e:gshare=32..32768*2,ras=2|4|8|16,ibtb=16|64|256,hash=*
[sweep]
batch = 4
END
begin starts_a_cluster
nodes_are_idle() { [ "$(sinfo -h -o '%t %D' 2>/dev/null)" = 'idle 2' ]; }
await nodes_are_idle
run "$VESTIGE" sweep --csv --store local s.ini
expect_status 0
cp "$out" local.csv

begin gives_the_same_bytes_on_a_cluster
run "$VESTIGE" sweep --csv --engine slurm --seconds 1 --store plain s.ini
expect_status 0
cmp -s "$out" local.csv || fail "another table"
has_some() { [ "$(find "$1/results" -name '????????????????????????????????' 2>/dev/null | wc -l)" -ge "$2" ]; }
queue_is_empty() { [ -z "$(squeue -h)" ]; }

# on STORE: a sweep in the background, until it has some results.
on() {
    "$VESTIGE" sweep --csv --engine slurm --seconds 1 --store "$1" s.ini >"$1.csv" 2>"$1.err" &
    pid=$!
    await has_some "$1" 3
    find "$1/results" -type f -name '????????????????????????????????' -exec ls -i {} + | sort >"$1.before"
}

# same STORE: it ends well, with the same bytes, and what there was has not been written again.
same() {
    wait $pid
    status=$?
    expect_status 0
    cmp -s "$1.csv" local.csv || fail "another table: $(cat "$1.err")"
    find "$1/results" -type f -exec ls -i {} + | sort | comm -23 "$1.before" - >"$1.again"
    [ ! -s "$1.again" ] || fail "measured again: $(cat "$1.again")"
}

begin survives_a_node_set_down
on down
scontrol update nodename=n2 state=down reason=test
same down
scontrol update nodename=n2 state=resume 2>/dev/null # it may have come back by itself
await nodes_are_idle

begin survives_a_killed_slurmd
on slurmd
kill -9 "$(cat "$D/run/slurmd-n2.pid")"
same slurmd
slurmd -N n2
await nodes_are_idle

begin survives_killed_tasks
on tasks
# Kills two tasks, or one; false until there is one, unless the sweep is over.
kill_tasks() {
    killed=$(pgrep -f "sweep --task [0-9]* $T/tasks/jobs" | head -n 2 | while read -r task; do
        kill -9 "$task" 2>/dev/null && echo "$task"
    done)
    [ -n "$killed" ] || ! kill -0 $pid 2>/dev/null
}
await kill_tasks
[ -n "$killed" ] || fail "no task was killed"
same tasks

begin survives_a_restarted_controller
on controller
controller=$(cat "$D/run/slurmctld.pid")
kill "$controller"
is_over() { ! [ -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"; }
await is_over "$controller"
slurmctld
same controller
await nodes_are_idle

begin survives_a_killed_submitter
on submitter
kill -9 $pid
wait $pid 2>/dev/null
"$VESTIGE" sweep --csv --engine slurm --seconds 1 --store submitter s.ini >submitter.csv 2>submitter.err &
pid=$!
same submitter

begin cancels_its_job_when_it_is_interrupted
on interrupted
kill -TERM $pid
wait $pid
expect_equal $? 143
await queue_is_empty

begin does_not_wait_for_held_tasks
run "$VESTIGE" sweep --csv --engine slurm --seconds 1 --slurm=--hold --store held s.ini
expect_status 2
expect_one_line_err
expect_err '^vestige sweep: job [0-9]+: [0-9]+ tasks are held \(JobHeld(User|Admin)\); '
scontrol release "$(cat held/jobs/current)"
run "$VESTIGE" sweep --csv --engine slurm --seconds 1 --store held s.ini
expect_status 0
cmp -s "$out" local.csv || fail "another table"
expect_equal "$(find held/jobs -name '*.tasks' | wc -l)" 1 "jobs submitted"

begin says_what_sbatch_refuses
run "$VESTIGE" sweep --csv --engine slurm --slurm=--partition=none --store refused s.ini
expect_status 2
expect_one_line_err
expect_err '^vestige sweep: sbatch: .*[Pp]artition'

finish
