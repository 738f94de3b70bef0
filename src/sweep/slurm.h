/* SPDX-License-Identifier: MIT */
/* Units measured by the tasks of a Slurm cluster, through sbatch, squeue, scontrol and scancel. The
 * store is on a file system that all nodes share, and nothing else has to run anywhere: a task is
 * this program, which reads what it has to do from a file in the store's folder `jobs`.
 *
 * What is done is what the store has. Slurm may run a task twice, kill it, or forget it: once none
 * of a job's tasks is left in the queue, what is still missing is submitted again. Whoever starts
 * while a job of the store is still in the queue waits for it first. */
#ifndef SWEEP_SLURM_H
#define SWEEP_SLURM_H

#include "sweep/sweep.h"

struct vs_slurm {
    const char *vestige;        /* this program, for the tasks */
    const char *const *options; /* for sbatch, as they are */
    size_t option_count;
    uint64_t seconds; /* that a task should take */
};

/* Does what vs_sweep_measure_all does, with a job after the other; progress counts units. Returns
 * as that; -VSE_IO also if sbatch refuses the job, or if nothing new comes of several jobs, with
 * diag. */
int vs_slurm_measure(struct vs_sweep *s, const struct vs_slurm *slurm,
                     const struct vs_sweep_wanted *wanted, const atomic_bool *stop,
                     struct vs_progress *progress, struct vs_diag *diag);

/* What a task does: the batches of that number in a job's file, as far as their results are not
 * there. Returns 0; -VSE_IO, -VSE_NOMEM, -VSE_CORRUPT (the file), -VSE_NOTFOUND (it has no such
 * task), with diag. */
int vs_slurm_work(const char *file, uint64_t task, struct vs_diag *diag);

#endif
