/* SPDX-License-Identifier: MIT */
#include "library/sized.h"

#include <string.h>

#include "vestige/error.h"

int vs_sized_take(void *own, size_t size, const void *theirs)
{
    size_t given;
    memset(own, 0, size);
    if (!theirs)
        return 0;
    memcpy(&given, theirs, sizeof(given));
    if (given < sizeof(given))
        return -VSE_INVAL;
    for (size_t i = size; i < given; i++)
        if (((const char *)theirs)[i])
            return -VSE_FEATURE;
    memcpy(own, theirs, given < size ? given : size);
    return 0;
}

int vs_sized_give(void *theirs, const void *own, size_t size)
{
    size_t given, head = sizeof(given);
    if (!theirs)
        return -VSE_INVAL;
    memcpy(&given, theirs, head);
    if (given < head)
        return -VSE_INVAL;
    memset((char *)theirs + head, 0, given - head);
    memcpy((char *)theirs + head, (const char *)own + head, (given < size ? given : size) - head);
    return 0;
}
