/* SPDX-License-Identifier: MIT */
/* What is the same in every page, embedded when this is built: our own style and scripts, which lie
 * beside this file, and the library that draws, as its package installs it. */
#ifndef PAGE_ASSETS_H
#define PAGE_ASSETS_H

/* Each ends with a zero byte. */
extern const char page_style[], page_body[], page_library[], page_script[];

#endif
