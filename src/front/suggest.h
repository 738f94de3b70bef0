/* SPDX-License-Identifier: MIT */
/* Guesses what a mistyped word was meant to be. */
#ifndef FRONT_SUGGEST_H
#define FRONT_SUGGEST_H

struct suggest {
    const char *word;
    const char *best; /* the nearest of the words offered; NULL if none is near */
    unsigned distance;
};

void suggest_init(struct suggest *s, const char *word);

/* The candidate must outlive s. */
void suggest_offer(struct suggest *s, const char *candidate);

#endif
