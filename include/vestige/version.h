/* SPDX-License-Identifier: MIT */
/* The library's version. The Makefile reads the three numbers from here. */
#ifndef VESTIGE_VERSION_H
#define VESTIGE_VERSION_H

#define VS_VERSION_MAJOR 0
#define VS_VERSION_MINOR 1
#define VS_VERSION_PATCH 0

/* Marks what libvestige exports; everything else is hidden. */
#if defined(__GNUC__)
#define VS_API __attribute__((visibility("default")))
#else
#define VS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library in use, "major.minor.patch"; static storage. */
VS_API const char *vs_version(void);

#ifdef __cplusplus
}
#endif

#endif
