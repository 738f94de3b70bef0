/* SPDX-License-Identifier: MIT */
#include "page/assets.h"

#define BEGIN(name) ".globl " #name "\n.hidden " #name "\n" #name ":\n"
#define FILE(path)  ".incbin \"" path "\"\n"
#define END         ".byte 0\n"

/* The scripts are one: in strict mode, and a name in one of them is known in those after it. */
__asm__(".pushsection .rodata\n" BEGIN(page_style) FILE("src/page/page.css") END BEGIN(page_body)
            FILE("src/page/page.html") END BEGIN(page_library) FILE(VS_D3) END BEGIN(page_script)
                FILE("src/page/base.js") FILE("src/page/table.js") FILE("src/page/what.js")
                    FILE("src/page/timeline.js") FILE("src/page/bits.js")
                        FILE("src/page/techniques.js") FILE("src/page/places.js")
                            FILE("src/page/branches.js") FILE("src/page/memory.js")
                                FILE("src/page/compare.js") FILE("src/page/sweep.js")
                                    FILE("src/page/main.js") END ".popsection");
