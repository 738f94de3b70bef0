/* SPDX-License-Identifier: MIT */
/* A library for real_dl, made with different FACTORs, and a second name for its routine. */
int twist(int x);

int twist(int x)
{
    return x * FACTOR + (x >> 1);
}

#ifdef NAME
int NAME(int x) __attribute__((alias("twist")));
#endif
