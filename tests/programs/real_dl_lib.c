/* SPDX-License-Identifier: MIT */
/* A library for real_dl, made with different FACTORs. */
int twist(int x);

int twist(int x)
{
    return x * FACTOR + (x >> 1);
}
