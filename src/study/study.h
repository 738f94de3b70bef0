/* SPDX-License-Identifier: MIT */
/* The study layer: measurements over runs. */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include "study/bandwidth.h"
#include "study/entropy.h"
#include "study/locality.h"
#include "study/memory.h"
#include "study/names.h"
#include "study/profile.h"
#include "study/prove.h"
#include "study/routines.h"
#include "study/syscalls.h"
#include "study/verify_address.h"
#include "study/verify_data.h"

#endif
