# SPDX-License-Identifier: MIT
# The front door. `make list` prints the targets.
#
# Variables: DEBUG=1  SAN=address,undefined  CC=  CFLAGS=  LDFLAGS= (both added to ours)
#            O=build (build root)  DESTDIR=  PREFIX=/usr/local  FUZZ_SECONDS=60  FUZZ_TARGETS=  V=1 (show commands)
#
# The default variant is built in $(O), every other in $(O)/<variant>; their objects never mix.
# A variant's `config` file has the variables that select it, one per line, for another make.

MAKEFLAGS += --no-builtin-rules --no-print-directory
# Messages, sort order and decimal points are the same everywhere.
export LC_ALL := C
# A -j on the command line wins over this; a nested make takes its share of the one above.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# In order; src/layers also says which layer may include which (tools/check-includes).
LAYERS := $(shell sed -n 's,^\([a-z][a-z]*\).*,\1,p' src/layers)

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG        ?= clang-14
CLANG_FORMAT ?= clang-format-14
O            ?= build
PREFIX       ?= /usr/local
LIBDIR       ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 60

# ---- variants -------------------------------------------------------------------------------

comma := ,
empty :=
space := $(empty) $(empty)

# $(call build-dir,compiler,debug,sanitizers)
compiler-name = $(filter-out gcc cc,$(patsubst clang-%,clang,$(notdir $(lastword $(1)))))
variant-name  = $(subst $(space),-,$(strip $(call compiler-name,$(1)) $(if $(2),debug) \
                    $(if $(3),san-$(subst $(comma),-,$(3)))))
build-dir     = $(patsubst %/,%,$(O)/$(call variant-name,$(1),$(2),$(3)))

B := $(if $(VARIANT),$(O)/$(VARIANT),$(call build-dir,$(CC),$(DEBUG),$(SAN)))

# ---- flags ----------------------------------------------------------------------------------

# Under the sanitizers -g1 suffices, since reports show only files and lines.
OPTIMIZE := $(if $(DEBUG),-O0,$(if $(SAN),-O1,-O2)) $(if $(SAN),-g1,-g)
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
COMPILE  := $(CC) -std=gnu11 $(OPTIMIZE) $(WARNINGS) -D_GNU_SOURCE -Iinclude -Isrc \
            -fvisibility=hidden -pthread $(SANITIZE) $(if $(SAN),-fPIC) $(CFLAGS) -MMD -MP
LINK     := $(CC) -pthread $(SANITIZE) $(CFLAGS) $(LDFLAGS)
LIBS     := -lzstd -llzma -lbz2 -lz -lZydis -ldw -lelf -liberty -lsqlite3 -lm

version = $(shell sed -n 's/^\#define VS_VERSION_$(1) *//p' include/vestige/version.h)
MAJOR   := $(call version,MAJOR)
VERSION := $(MAJOR).$(call version,MINOR).$(call version,PATCH)

# ---- sources --------------------------------------------------------------------------------

# libvestige is the layer that the public headers are of, with those below it. All that prints nothing is one more
# archive, for the program and the tests.
PLUGGED   := base isa model port technique# what techniques are made of
EXPORTED  := base trace isa symbol engine rerun model port technique replay study library
LIB_SRC   := $(foreach l,$(filter-out front page published cli,$(LAYERS)),$(wildcard src/$(l)/*.c src/$(l)/*/*.c))
CLI_SRC   := $(wildcard src/front/*.c src/page/*.c src/published/*.c src/cli/*.c)# what prints, and what needs that
GEN_SRC   := $(filter-out %/main.c,$(wildcard tests/gen/*.c tests/plain/*.c))
UNIT_SRC  := $(filter-out %/unittest.c,$(wildcard tests/unit/*.c))
FUZZ_SRC  := $(wildcard tests/fuzz/*.c)
BENCH_SRC := $(wildcard bench/*.c)
RTL_SRC   := $(wildcard tests/rtl/*.c)# what the benches of the RTL need of Vestige
TEST_SRC  := $(GEN_SRC) $(wildcard tests/gen/main.c tests/unit/unittest.c) $(UNIT_SRC) $(FUZZ_SRC) \
             tests/fuzz/plain/main.c $(BENCH_SRC) $(RTL_SRC)
VG_SRC    := $(wildcard capture/valgrind/*.c)
VEX_SRC   := $(wildcard cpu/vex/*.c) capture/valgrind/access.c capture/valgrind/x86_decode.c
FORMATTED := $(shell find $(wildcard include src capture cpu workloads tests bench examples python) -name '*.[ch]')

obj = $(1:%.c=$(B)/obj/%.o)
LIB_OBJ  := $(call obj,$(LIB_SRC))
LIB_PUB  := $(filter $(EXPORTED:%=$(B)/obj/src/%/%),$(LIB_OBJ))
LIB_PIC  := $(if $(SAN),$(LIB_PUB),$(LIB_PUB:$(B)/obj/%=$(B)/pic/%))
MEASURED := $(B)/gen/measured_rows
CLI_OBJ  := $(call obj,$(CLI_SRC)) $(MEASURED).o
TEST_OBJ := $(call obj,$(TEST_SRC))

LIB_A   := $(B)/lib/libvestige.a
ALL_A   := $(B)/lib/libvestige-all.a
LIB_SO  := $(B)/lib/libvestige.so
TECHNIQUE_A := $(B)/lib/libvestige-technique.a# what plugins are linked with
GEN_A   := $(B)/test/libgen.a
GEN     := $(B)/test/vestige-gen
PROGRAM := $(B)/bin/vestige
# Other names of the program: the commands whose row says that they are tools.
TOOLS   := $(shell sed -n -e '/^    \.name = /h' -e '/^    \.tool = true/{g;s/.*"\(.*\)".*/\1/p;}' src/published/*.c)
SHARE   := $(B)/share# manual pages and completion, which the program prints
BASH_DIR := share/bash-completion/completions
ZSH_DIR  := share/zsh/vendor-completions
VG_DIR  := $(B)/lib/vestige/valgrind
VG_TOOL := $(VG_DIR)/vestige-amd64-linux
VEX_CPU := $(B)/lib/vestige/vestige-vex-amd64.so
UNITS   := $(UNIT_SRC:tests/unit/%.c=$(B)/test/unit/%)
FUZZERS := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/test/fuzz/%)
INPUTS  := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/test/inputs/%)# the same without a fuzzer
BENCH   := $(B)/bench/bench
PT_PEER := $(if $(wildcard /usr/include/intel-pt.h),$(B)/bench/pt-peer)# libipt, if it is there
RTL_A   := $(B)/test/librtl.a
RTL_PARAMETERS := $(B)/test/rtl-parameters
INJECT  := $(B)/test/inject.so
# The Python package, for Debian's Python, if what it needs is installed.
PYTHON3    ?= /usr/bin/python3
NP_INCLUDE := $(wildcard /usr/lib/python3/dist-packages/numpy/core/include /usr/lib/python3/dist-packages/numpy/_core/include)
PY_HEADERS := $(wildcard /usr/include/python3.*/Python.h)
PY_CONFIG  := $(if $(and $(PY_HEADERS),$(NP_INCLUDE)),$(shell $(PYTHON3) -c 'import sysconfig as c; print(c.get_path("include"), c.get_config_var("EXT_SUFFIX"))'))
PY_INCLUDE := $(patsubst %/Python.h,%,$(filter $(firstword $(PY_CONFIG))/Python.h,$(PY_HEADERS)))
PY_READY   := $(and $(PY_INCLUDE),$(NP_INCLUDE))
PY_SUFFIX  := $(if $(PY_READY),$(lastword $(PY_CONFIG)))
PY_FOLDER  ?= $(PREFIX)/lib/$(if $(filter /usr,$(PREFIX)),python3,$(notdir $(PY_INCLUDE)))/dist-packages
PY_MODULE  := $(B)/python/vestige/_vestige$(PY_SUFFIX)
PY_OBJ     := $(patsubst python/%.c,$(B)/obj/python/%.o,$(wildcard python/*.c))
PY_SOURCES := $(wildcard python/vestige/*.py python/vestige/*.pyi) python/vestige/py.typed
# Programs that tests record; real_* are built by the test that uses them.
TRACED  := $(patsubst tests/%,$(B)/test/%,$(basename $(filter-out tests/programs/real_%,$(wildcard tests/programs/*.[sc]))))

# Programs for the simulated platform.
SIMULATED := $(patsubst tests/target/%.c,$(B)/test/target/%,$(wildcard tests/target/*.c))

# ---- building -------------------------------------------------------------------------------

.PHONY: all man python python-module tests generator bench-program fuzzers fuzz-objects compile-all deps-build FORCE
## all: build libvestige, vestige and the workloads (the default)
all: $(LIB_A) $(LIB_SO) $(TECHNIQUE_A) $(PROGRAM) $(TOOLS:%=$(B)/bin/%) $(VG_TOOL) $(VEX_CPU) man $(if $(filter $(O),$(B)),workloads)

## man: write manual pages, and completion for bash and zsh, to share in the build directory
man: $(SHARE)/printed

## python: build the Python package, in python in the build directory
python:
	@tools/deps --install build python
	@+$(MAKE) python-module
# For a make that begins when the packages are there: without them the module's name is not known.
python-module: $(PY_MODULE) ; @:

## tests: build what the tests run
tests: $(LIB_A) $(LIB_SO) $(TECHNIQUE_A) man $(PROGRAM) $(TOOLS:%=$(B)/bin/%) $(VG_TOOL) $(VEX_CPU) $(UNITS) $(INPUTS) $(GEN) $(TRACED) $(SIMULATED) \
       $(if $(PY_READY),$(PY_MODULE)) $(if $(SAN),,$(INJECT) $(RTL_A) $(RTL_PARAMETERS))
generator: $(GEN)
bench-program: $(BENCH) $(PT_PEER)
fuzzers: $(FUZZERS)
fuzz-objects: $(call obj,$(FUZZ_SRC))
compile-all: $(LIB_OBJ) $(CLI_OBJ) $(TEST_OBJ)
tests generator bench-program fuzzers fuzz-objects compile-all: ; @:

# Announces a command, with the variant if it is not the default.
mark := $(if $(filter-out $(O),$(B)), [$(notdir $(B))])
ifeq ($(V),)
say = @printf '  %-5s %s\n' '$(1)' '$(2)';
endif

deps-build:
	@tools/deps --check build

# Two notes of what was built last. They are compared while parsing, so that `make -n` tells the
# truth.
define CONFIG
O=$(O)
CC=$(CC)
DEBUG=$(DEBUG)
SAN=$(SAN)
CFLAGS=$(CFLAGS)
LDFLAGS=$(LDFLAGS)
# $(COMPILE) $(LINK) $(LIBS)
endef
ifneq ($(file <$(B)/config),$(CONFIG))
$(B)/config: FORCE
endif
$(B)/config: export VS_NOTE := $(CONFIG)

SOURCES := $(sort $(LIB_SRC) $(CLI_SRC) $(TEST_SRC) $(VG_SRC))
ifneq ($(file <$(B)/sources),$(SOURCES))
$(B)/sources: FORCE
endif
$(B)/sources: export VS_NOTE := $(SOURCES)

$(B)/config $(B)/sources: | deps-build
	@[ -d $(O) ] || { mkdir -p $(O) && touch $(O)/.vestige-build; }
	@mkdir -p $(@D) && printf '%s\n' "$$VS_NOTE" >$@

$(TEST_OBJ): COMPILE += -Itests
$(call obj,$(FUZZ_SRC)): COMPILE += -Wno-missing-prototypes
$(LIB_OBJ) $(call obj,$(CLI_SRC)) $(TEST_OBJ): $(B)/obj/%.o: %.c $(B)/config | deps-build
	$(call say,CC,$(<)$(mark))mkdir -p $(@D) && $(COMPILE) -c -o $@ $<
# These objects embed files as they are.
$(call obj,src/cli/completion_bash.c): src/cli/completion.bash
$(call obj,src/cli/completion_zsh.c): src/cli/completion.zsh
D3 := /usr/share/nodejs/d3/dist/d3.min.js
$(call obj,src/page/assets.c): COMPILE += -DVS_D3='"$(D3)"'
$(call obj,src/page/assets.c): $(wildcard src/page/page.* src/page/*.js) $(D3)
# The committed table of what was synthesized, as rows.
$(MEASURED).c: bench/results/rtl-gates.csv tools/rtl-table
	@mkdir -p $(@D) && tools/rtl-table c >$@
$(MEASURED).o: $(MEASURED).c $(B)/config | deps-build
	$(call say,CC,$(<)$(mark))$(COMPILE) -c -o $@ $<
# Only the shared library needs these; the programs link code that is compiled without -fPIC. Under the sanitizers, all
# code is compiled with it, once.
$(LIB_PUB:$(B)/obj/%=$(B)/pic/%): $(B)/pic/%.o: %.c $(B)/config | deps-build
	$(call say,PIC,$(<)$(mark))mkdir -p $(@D) && $(COMPILE) -fPIC -c -o $@ $<

$(LIB_A): $(LIB_PUB) $(B)/sources
$(ALL_A): $(LIB_OBJ) $(B)/sources
$(GEN_A): $(call obj,$(GEN_SRC)) $(B)/sources
$(RTL_A): $(call obj,$(filter-out %/parameters.c,$(RTL_SRC))) $(B)/sources
$(LIB_A) $(ALL_A) $(GEN_A) $(RTL_A):
	$(call say,AR,$(@))mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# What the interface needs comes out of an archive of everything.
PIC_A := $(B)/pic/libparts.a
$(PIC_A): $(LIB_PIC) $(B)/sources
$(TECHNIQUE_A): $(filter $(foreach d,obj pic,$(PLUGGED:%=$(B)/$d/src/%/%)),$(LIB_PIC)) $(B)/sources
$(PIC_A) $(TECHNIQUE_A):
	$(call say,AR,$(@))mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
LIB_TOP := base trace isa rerun library# whose objects have the interface's functions
$(LIB_SO).$(VERSION): $(filter $(foreach d,obj pic,$(LIB_TOP:%=$(B)/$d/src/%/%)),$(LIB_PIC)) $(PIC_A) src/library/symbols $(B)/sources
	$(call say,LD,$(@))mkdir -p $(@D) && $(LINK) -shared -Wl,-soname,libvestige.so.$(MAJOR) \
	    -Wl,--version-script=src/library/symbols $(if $(SAN),,-Wl,-z,defs) \
	    -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(LIBS)
$(LIB_SO): $(LIB_SO).$(VERSION)
	@ln -sf libvestige.so.$(VERSION) $@.$(MAJOR) && ln -sf libvestige.so.$(VERSION) $@

$(TOOLS:%=$(B)/bin/%): $(PROGRAM)
	@ln -sf vestige $@

# All pages are written at once, since the program knows which there are; old ones are removed
# first.
$(SHARE)/printed: $(PROGRAM) $(wildcard include/vestige/*.h) tools/man3 Makefile
	$(call say,MAN,$(SHARE))rm -rf $(SHARE) && \
	    mkdir -p $(SHARE)/man/man1 $(B)/$(BASH_DIR) $(B)/$(ZSH_DIR) && \
	    $(PROGRAM) help --format man >$(SHARE)/man/man1/vestige.1 && \
	    for command in $$($(PROGRAM) help | sed -n 's/^  \([a-zA-Z]\+\) .*/\1/p'); do \
	        case ' $(TOOLS) ' in *" $$command "*) page=$$command ;; *) page=vestige-$$command ;; esac; \
	        $(PROGRAM) help --format man $$command >$(SHARE)/man/man1/$$page.1 || exit; \
	    done && \
	    $(PROGRAM) help --format bash >$(B)/$(BASH_DIR)/vestige && \
	    for tool in $(TOOLS); do ln -s vestige $(B)/$(BASH_DIR)/$$tool || exit; done && \
    mkdir -p $(SHARE)/man/man3 && tools/man3 $(SHARE)/man/man3 $(VERSION) include/vestige/*.h && \
	    $(PROGRAM) help --format zsh >$(B)/$(ZSH_DIR)/_vestige && touch $@

$(PROGRAM): $(CLI_OBJ)
# Tests of what the commands are made of.
$(B)/test/unit/cfiat $(B)/test/unit/disasm $(B)/test/unit/manifest $(B)/test/unit/manpage $(B)/test/unit/mtrace \
$(B)/test/unit/report $(B)/test/unit/timeline $(foreach t,manifest foreign,$(B)/test/fuzz/$t $(B)/test/inputs/$t): $(filter-out %/main.o,$(CLI_OBJ))
$(GEN): $(call obj,tests/gen/main.c) $(GEN_A)
$(UNITS): $(B)/test/unit/%: $(B)/obj/tests/unit/%.o $(call obj,tests/unit/unittest.c) $(GEN_A)
$(FUZZERS): $(B)/test/fuzz/%: $(B)/obj/tests/fuzz/%.o $(GEN_A)
$(FUZZERS): LINK += -fsanitize=fuzzer
$(foreach t,cpu rerun,$(B)/test/fuzz/$t $(B)/test/inputs/$t): | $(VEX_CPU)
$(INPUTS): $(B)/test/inputs/%: $(B)/obj/tests/fuzz/%.o $(call obj,tests/fuzz/plain/main.c) $(GEN_A)
$(BENCH): $(call obj,$(BENCH_SRC)) $(GEN_A)
$(RTL_PARAMETERS): $(call obj,tests/rtl/parameters.c)
$(B)/bench/pt-peer: tests/cli/pt_peer.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -O2 -o $@ $< -lipt
$(PROGRAM) $(GEN) $(UNITS) $(FUZZERS) $(INPUTS) $(BENCH) $(RTL_PARAMETERS): $(ALL_A) $(B)/sources
	$(call say,LD,$(@))mkdir -p $(@D) && $(LINK) -o $@ $(filter %.o,$^) \
	    $(filter-out $(ALL_A),$(filter %.a,$^)) $(ALL_A) $(LIBS)

# The Python package needs libvestige at run time.
$(PY_OBJ): $(B)/obj/python/%.o: python/%.c $(B)/config | deps-build
	$(call say,CC,$(<)$(mark))mkdir -p $(@D) && $(filter-out -Wwrite-strings,$(COMPILE)) -isystem $(PY_INCLUDE) \
	    -isystem $(firstword $(NP_INCLUDE)) -fPIC -c -o $@ $<
$(PY_MODULE): $(PY_OBJ) $(PY_SOURCES) $(LIB_SO)
	$(call say,LD,$(@))mkdir -p $(@D) && cp $(PY_SOURCES) $(@D) && \
	    $(LINK) -shared -o $@ $(PY_OBJ) -L$(B)/lib -lvestige -Wl,-rpath,'$$ORIGIN/../../lib:$$ORIGIN/../../..'
-include $(PY_OBJ:.o=.d)

# Makes calls fail (tests/cli/faults.sh). It is not used with the sanitizers, which replace the same
# calls.
$(INJECT): tests/fault/inject.c $(B)/config | deps-build
	$(call say,LD,$(@))mkdir -p $(@D) && $(COMPILE) -shared -fPIC -o $@ $< $(LDFLAGS)

-include $(INJECT:.so=.d) $(patsubst %.o,%.d,$(LIB_OBJ) $(LIB_PIC) $(CLI_OBJ) $(TEST_OBJ))

# ---- the Valgrind tool ------------------------------------------------------------------------
# A program that is loaded where Valgrind's tools are, with nothing but Valgrind below it: no C
# library and no sanitizers. Beside it are links to what Valgrind needs at run time.

VG_INCLUDE ?= /usr/include/valgrind
VG_LIB     ?= /usr/lib/x86_64-linux-gnu/valgrind
VG_EXEC    ?= /usr/libexec/valgrind
VG_FILES   := default.supp vgpreload_core-amd64-linux.so
VG_COMPILE := gcc -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror \
              -isystem $(VG_INCLUDE) -Iinclude -Isrc -Icapture/valgrind -DVGA_amd64=1 -DVGO_linux=1 \
              -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 -fno-stack-protector -fno-builtin \
              -fno-strict-aliasing -fno-pie -fomit-frame-pointer -MMD -MP
VG_LINK    := gcc -no-pie -static -nodefaultlibs -nostartfiles -u _start -Wl,--build-id=none \
              -Wl,-Ttext-segment=0x58000000 -Wl,--wrap=vgPlain_redir_do_lookup,--wrap=LibVEX_Translate,--wrap=vgPlain_kill_self,--wrap=vgPlain_client_exit,--wrap=vgPlain_nuke_all_threads_except
VG_OBJ     := $(VG_SRC:%.c=$(B)/vg/%.o)

$(VG_OBJ): $(B)/vg/%.o: %.c Makefile | deps-build
	$(call say,CC,$(<)$(mark))mkdir -p $(@D) && $(VG_COMPILE) -c -o $@ $<
$(VG_TOOL): $(VG_OBJ) $(B)/sources
	$(call say,LD,$(@))mkdir -p $(@D) && $(VG_LINK) -o $@ $(VG_OBJ) \
	    $(VG_LIB)/libcoregrind-amd64-linux.a $(VG_LIB)/libvex-amd64-linux.a -lgcc \
	    $(VG_LIB)/libgcc-sup-amd64-linux.a
	@ln -sf $(VG_FILES:%=$(VG_EXEC)/%) $(VG_DIR)
-include $(VG_OBJ:.o=.d)

# ---- the CPU of native programs ----------------------------------------------------------------
# LibVEX and what makes a CPU of it, under the GPL: an object that vestige loads when a native
# program is to be executed. Of LibVEX, which is not made for shared objects, nothing is exported.

VEX_COMPILE := gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -fPIC -fvisibility=hidden -isystem $(VG_INCLUDE) \
               -Iinclude -Isrc -Icapture/valgrind -Icpu/vex -D_GNU_SOURCE -MMD -MP
VEX_OBJ     := $(VEX_SRC:%.c=$(B)/vex/%.o)

$(VEX_OBJ): $(B)/vex/%.o: %.c Makefile | deps-build
	$(call say,CC,$(<)$(mark))mkdir -p $(@D) && $(VEX_COMPILE) -c -o $@ $<
$(VEX_CPU): $(VEX_OBJ) cpu/vex/exports $(B)/sources
	$(call say,LD,$(@))mkdir -p $(@D) && gcc -shared -o $@ $(VEX_OBJ) $(VG_LIB)/libvex-amd64-linux.a \
	    -Wl,--version-script=cpu/vex/exports -Wl,-z,noexecstack -pthread
-include $(VEX_OBJ:.o=.d)

# ---- programs that the tests record -----------------------------------------------------------
# Static programs for the host. Like the workloads they are not part of a variant, but lie beside
# its other tests.

$(B)/test/programs/%: tests/programs/%.s tests/programs/expand Makefile | deps-build
	$(call say,AS,$(<)$(mark))mkdir -p $(@D) && tests/programs/expand $< >$@.s && \
	    gcc -nostdlib -static -no-pie -Wl,-z,noexecstack -o $@ $@.s
$(B)/test/programs/%: tests/programs/%.c Makefile | deps-build
	$(call say,CC,$(<)$(mark))mkdir -p $(@D) && gcc -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE \
	    -Iinclude -static -pthread -o $@ $<

# The same for the simulated platform.
$(B)/test/target/%: tests/target/%.c Makefile | deps-build
	$(call say,RV64,$(<)$(mark))mkdir -p $(@D) && $(RV64_CC) -march=rv64gc -std=gnu11 -O2 -g $(WARNINGS) \
	    -D_GNU_SOURCE -Iinclude -static -pthread -o $@ $<

# ---- workloads ------------------------------------------------------------------------------
# The programs that are traced: one per workloads/*.c, for the host (dynamic) and for RV64 (static),
# and for the tests also with the sanitizers. They are not part of a variant, since to Vestige they
# are data.

WORKLOADS   := $(patsubst workloads/%.c,%,$(wildcard workloads/*.c))
WL_COMMON   := $(patsubst workloads/%.c,%.o,$(wildcard workloads/common/*.c))
WL_FLAGS    := -std=gnu11 -O2 -g -ffp-contract=off $(WARNINGS) -D_GNU_SOURCE -Iworkloads/common \
               -pthread -MMD -MP
# The host's compiled as in the publications, and without optimisation: bench/results/steps.csv. RV64 has no prefetches
# that -fprefetch-loop-arrays could use.
WL_LEVELS   := host-published host-plain rv64-published
WL_TARGETS  := host rv64 asan tsan $(WL_LEVELS)
RV64_CC     ?= riscv64-linux-gnu-gcc
wl-cc-host   = gcc
wl-cc-rv64   = $(RV64_CC) -march=rv64gc -static
wl-cc-asan   = gcc -fsanitize=address,undefined -fno-sanitize-recover=all
wl-cc-tsan   = gcc -fsanitize=thread
wl-cc-host-published = $(wl-cc-host)
wl-cc-host-plain     = $(wl-cc-host)
wl-cc-rv64-published = $(wl-cc-rv64)
# the last -O counts; warnings are those of host and rv64
wl-level-host-published = -O3 -funroll-loops -fprefetch-loop-arrays -w
wl-level-host-plain     = -O0 -w
wl-level-rv64-published = -O3 -funroll-loops -w

.PHONY: workloads workloads-levels workloads-sanitized
## workloads: build the traced programs for the host and for RV64
workloads: $(foreach t,host rv64,$(WORKLOADS:%=$(O)/workloads/$(t)/%))
## workloads-levels: build them as the publications did, and without optimisation
workloads-levels: $(foreach t,$(WL_LEVELS),$(WORKLOADS:%=$(O)/workloads/$(t)/%))
workloads-sanitized: $(foreach t,asan tsan,$(WORKLOADS:%=$(O)/workloads/$(t)/%))

define workload-target
$(O)/workloads/obj/$(1)/%.o: workloads/%.c Makefile | deps-build
	$$(call say,CC,$$< [$(1)])mkdir -p $$(@D) && $(wl-cc-$(1)) $(WL_FLAGS) $(wl-level-$(1)) -c -o $$@ $$<
$(WORKLOADS:%=$(O)/workloads/$(1)/%): $(O)/workloads/$(1)/%: $(O)/workloads/obj/$(1)/%.o \
    $(WL_COMMON:%=$(O)/workloads/obj/$(1)/%)
	$$(call say,LD,$$@)mkdir -p $$(@D) && $(wl-cc-$(1)) -pthread -o $$@ $$(filter %.o,$$^) -lm
-include $(patsubst %,$(O)/workloads/obj/$(1)/%.d,$(WORKLOADS) $(WL_COMMON:.o=))
endef
$(foreach t,$(WL_TARGETS),$(eval $(call workload-target,$(t))))
.SECONDARY:

# ---- using ----------------------------------------------------------------------------------
# These first install what is missing; the rest runs in a make of its own, which then finds it.

.PHONY: check check-run check-gcc check-clang check-san check-threads check-threads-long check-long rtl-check rtl-gates rtl-bursts demo bench performance fuzz
## check: run all tests, plain and under the sanitizers; try both compilers; check format and includes
check:
	@tools/deps --install build bench check format deb rtl python
	@+$(MAKE) check-gcc check-clang check-san check-threads || { echo '0 passed, 1 failed'; exit 1; }
	@$(MAKE) check-run

CLANG_CHECK := $(O)/clang-check
check-gcc:
	@+$(MAKE) all tests bench-program
# Shows clang's warnings, and whether the program it makes works. Nothing else is run, so it need
# not be fast.
check-clang:
	@+$(MAKE) CC=$(CLANG) SAN= DEBUG=1 CFLAGS=-g0 VARIANT=$(notdir $(CLANG_CHECK)) \
	    compile-all $(CLANG_CHECK)/bin/vestige $(CLANG_CHECK)/test/unit/writer
check-san:
	@+$(MAKE) SAN=address,undefined tests

# What tests/threads runs, which in check is little. It is not optimized, since compiling takes the
# most time.
THREADED := $(call build-dir,$(CC),1,thread)
check-threads:
	@+$(MAKE) SAN=thread DEBUG=1 $(THREADED)/bin/vestige $(THREADED)/lib/vestige/valgrind/vestige-amd64-linux \
	    $(THREADED)/lib/vestige/vestige-vex-amd64.so \
	    $(patsubst %,$(THREADED)/test/unit/%,workers relay writer side_by_side portgrow replay)
check-threads-long:
	@+$(MAKE) SAN=thread DEBUG=1 tests

SANITIZED := $(call build-dir,$(CC),$(DEBUG),address$(comma)undefined)
check-run:
	@tests/run -c 'check-includes' 'tools/check-includes . src/layers' \
	    -c 'check-includes --self-test' 'tools/check-includes --self-test' \
	    -c 'check-isa' 'tools/check-isa . src/isa/named' \
	    -c 'check-isa --self-test' 'tools/check-isa --self-test' \
	    -c 'check-format' '$(MAKE) check-format' \
	    -c 'check-state' 'tools/check-state $(ALL_A)' \
	    -c 'check-state --self-test' 'tools/check-state --self-test' \
	    -c 'ThreadSanitizer: tests/threads' 'tests/threads $(THREADED)' \
	    -c 'clang: vestige --version' '$(CLANG_CHECK)/bin/vestige --version' \
	    -c 'clang: tests/unit/writer.c' '$(CLANG_CHECK)/test/unit/writer' \
	    $(B) $(SANITIZED)

## check-long: run also the tests that take too long for check
# That is: 28 M random RV64 instructions against qemu, block by block; all configurations of
# techniques on all workloads with 1, 2, 4 and 8 threads, and replays of them; every command with
# each of its allocations and system calls failing in turn; and more under the sanitizers, including
# the one for threads.
check-long:
	@tools/deps --install build bench check deb rtl python cluster
	@+$(MAKE) check-gcc check-san check-threads-long workloads-sanitized
	VESTIGE_LONG=1 VESTIGE_ISS_PROGRAMS=230 TEST_TIMEOUT=14400 tests/run \
	    -c 'ThreadSanitizer: tests/threads' 'tests/threads $(THREADED)' $(B) $(SANITIZED)

## rtl-check: compare the trace module in rtl with the model, in simulation
rtl-check:
	@tools/deps --install build check rtl
	@+$(MAKE) all tests
	@tests/cli/rtl.sh

## rtl-gates: renew the committed table of what the trace module takes in gates
rtl-gates:
	@tools/deps --install build check rtl
	@+$(MAKE) all tests
	tools/rtl-gates $(B) >$(O)/rtl-gates.csv
	mv $(O)/rtl-gates.csv bench/results/rtl-gates.csv

## rtl-bursts: renew the committed table of what waits in the trace module, and what is lost
rtl-bursts:
	@tools/deps --install build check rtl
	@+$(MAKE) all tests
	tools/rtl-bursts $(B) >$(O)/rtl-bursts.csv
	mv $(O)/rtl-bursts.csv bench/results/rtl-bursts.csv

## demo: show what Vestige does
demo:
	@tools/deps --install build
	@+$(MAKE) all generator
	@tools/demo $(B)

## bench: measure; print a table, and write bench/bench.json in the build directory
bench:
	@tools/deps --install build bench
	@+$(MAKE) all bench-program
	@$(BENCH) --json $(B)/bench/bench.json

## performance: write docs/performance.md from what bench measured last
performance:
	cp $(B)/bench/bench.json bench/results/bench.json
	tools/performance-doc >$(O)/performance.md
	mv $(O)/performance.md docs/performance.md

## fuzz: run every fuzz target, or FUZZ_TARGETS="...", for FUZZ_SECONDS=60 each, and print what was found
FUZZ_TARGETS ?= $(FUZZ_SRC:tests/fuzz/%.c=%)
fuzz:
	@tools/deps --install build check fuzz
	@+$(MAKE) all generator
	@+$(MAKE) CC=$(CLANG) SAN=fuzzer-no-link,address,undefined VARIANT=clang-fuzz fuzzers
	@tools/fuzz $(B) $(O)/clang-fuzz/test/fuzz $(O)/fuzz $(FUZZ_SECONDS) \
	    $(FUZZ_TARGETS)

.PHONY: results
## results: renew the committed tables of what techniques cost, and the pages made from them
results:
	@+$(MAKE) all
	store=$(O)/results-$$(sha256sum $(PROGRAM) | cut -c 1-16).sweep && \
	    for study in control-flow load-values data-addresses mispredictions locality characterization entropy over-time \
	    software-traces costs mutation beyond platforms chip small-control-flow small-load-values \
	    small-data-addresses streams; do \
	    tools/results -b $(B) -s $$store $$study >$(O)/$$study.csv && \
	    mv $(O)/$$study.csv bench/results/$$study.csv || exit; done && \
	    tools/results -b $(B) -s $$store grids >$(O)/grids.csv
	tools/search -g $(O)/grids.csv >$(O)/search.csv
	mv $(O)/search.csv bench/results/search.csv
	tools/run-length -b $(B) >$(O)/run-length.csv
	mv $(O)/run-length.csv bench/results/run-length.csv
	tools/run-length-chart >$(O)/run-length.svg
	mv $(O)/run-length.svg docs/run-length.svg
	tools/sweep-picture bench/results/chip.csv >$(O)/sweep.svg
	mv $(O)/sweep.svg docs/sweep.svg
	tools/frontier >$(O)/frontier.svg
	mv $(O)/frontier.svg docs/frontier.svg
	tools/frontier -n 4 >$(O)/frontier-4.svg
	mv $(O)/frontier-4.svg docs/frontier-4.svg
	tools/frontier -n 4 -z small >$(O)/frontier-small.svg
	mv $(O)/frontier-small.svg docs/frontier-small.svg
	for page in results tables published; do \
	    tools/fill-doc docs/$$page.md.in >$(O)/$$page.md && mv $(O)/$$page.md docs/$$page.md || exit; done
	tools/techniques-doc $(B) >$(O)/techniques.md
	mv $(O)/techniques.md docs/techniques.md

.PHONY: steps
## steps: renew the committed table of the steps to the published figures, of native runs on this machine
steps:
	@+$(MAKE) all workloads-levels
	tools/steps -b $(B) >$(O)/steps.csv
	mv $(O)/steps.csv bench/results/steps.csv
	for page in results tables; do \
	    tools/fill-doc docs/$$page.md.in >$(O)/$$page.md && mv $(O)/$$page.md docs/$$page.md || exit; done

.PHONY: run-sizes
## run-sizes: renew the committed table with the sizes of generated runs
run-sizes:
	@+$(MAKE) generator
	tools/run-sizes $(GEN) >$(O)/run-sizes.csv
	mv $(O)/run-sizes.csv tests/golden/run-sizes.csv

.PHONY: install deb format check-format check-includes check-isa include-graph deps list clean
## install: install programs, library, headers, manual pages and completion under DESTDIR and PREFIX=/usr/local
install: all
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/include/vestige" \
	    "$(DESTDIR)$(LIBDIR)/pkgconfig" "$(DESTDIR)$(PREFIX)/lib/vestige/valgrind"
	install -m 755 $(PROGRAM) "$(DESTDIR)$(PREFIX)/bin"
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1" "$(DESTDIR)$(PREFIX)/share/man/man3" "$(DESTDIR)$(PREFIX)/$(BASH_DIR)" \
	    "$(DESTDIR)$(PREFIX)/$(ZSH_DIR)"
	for tool in $(TOOLS); do \
	    ln -sf vestige "$(DESTDIR)$(PREFIX)/bin/$$tool" && \
	    ln -sf vestige "$(DESTDIR)$(PREFIX)/$(BASH_DIR)/$$tool" || exit; \
	done
	install -m 644 $(SHARE)/man/man1/*.1 "$(DESTDIR)$(PREFIX)/share/man/man1"
	install -m 644 $(SHARE)/man/man3/*.3 "$(DESTDIR)$(PREFIX)/share/man/man3"
	install -m 644 $(B)/$(BASH_DIR)/vestige "$(DESTDIR)$(PREFIX)/$(BASH_DIR)"
	install -m 644 $(B)/$(ZSH_DIR)/_vestige "$(DESTDIR)$(PREFIX)/$(ZSH_DIR)"
	install -m 755 $(VG_TOOL) "$(DESTDIR)$(PREFIX)/lib/vestige/valgrind"
	install -m 755 $(VEX_CPU) "$(DESTDIR)$(PREFIX)/lib/vestige"
	ln -sf $(VG_FILES:%=$(VG_EXEC)/%) "$(DESTDIR)$(PREFIX)/lib/vestige/valgrind"
	install -m 644 $(LIB_A) "$(DESTDIR)$(LIBDIR)"
	install -m 755 $(LIB_SO).$(VERSION) "$(DESTDIR)$(LIBDIR)"
	ln -sf libvestige.so.$(VERSION) "$(DESTDIR)$(LIBDIR)/libvestige.so.$(MAJOR)"
	ln -sf libvestige.so.$(MAJOR) "$(DESTDIR)$(LIBDIR)/libvestige.so"
	install -m 644 include/vestige/*.h "$(DESTDIR)$(PREFIX)/include/vestige"
	for name in vestige vestige-technique; do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' $$name.pc.in | \
	        install -m 644 /dev/stdin "$(DESTDIR)$(LIBDIR)/pkgconfig/$$name.pc" || exit; \
	done
	install -m 644 $(TECHNIQUE_A) "$(DESTDIR)$(LIBDIR)"
	if [ -e $(PY_MODULE) ]; then \
	    install -d "$(DESTDIR)$(PY_FOLDER)/vestige" && \
	    install -m 644 $(PY_SOURCES) $(PY_MODULE) "$(DESTDIR)$(PY_FOLDER)/vestige" || exit; \
	fi
	for layer in $(PLUGGED); do \
	    install -d "$(DESTDIR)$(PREFIX)/include/vestige-technique/$$layer" && \
	    install -m 644 src/$$layer/*.h "$(DESTDIR)$(PREFIX)/include/vestige-technique/$$layer" || exit; \
	done

## deb: make a Debian package of what install installs, build/vestige_VERSION_amd64.deb or DEB=FILE
DEB ?= $(O)/vestige_$(VERSION)_$(shell dpkg --print-architecture 2>/dev/null).deb
deb:
	@tools/deps --install build deb python
	@+$(MAKE) all python-module
	@rm -rf $(DEB).d
	@+$(MAKE) -s install DESTDIR=$(abspath $(DEB).d) PREFIX=/usr LIBDIR=/usr/lib/$$(gcc -print-multiarch)
	@tools/deb $(DEB).d $(VERSION) $(DEB) && rm -rf $(DEB).d
	@echo 'vestige: $(DEB); to install it: sudo apt install $(if $(filter /%,$(DEB)),,./)$(DEB)'

## format: format all C with clang-format, and write the table of includes in docs/architecture.md anew
format: include-graph
	@tools/deps --check format
	$(CLANG_FORMAT) -i $(FORMATTED)

## check-format: fail if `make format` would change any C
check-format:
	@tools/deps --check format
	@out=$$($(CLANG_FORMAT) --dry-run -Werror $(FORMATTED) 2>&1) || \
	    { echo "$$out" | grep ': error: ' || echo "$$out"; exit 1; }

## include-graph: write the table of who includes whom into docs/architecture.md
include-graph:
	@{ sed '/^<!-- include-graph/q' docs/architecture.md; tools/include-graph; \
	    sed -n '/^<!-- end -->/,$$p' docs/architecture.md; } >$(O)/architecture.md && \
	    mv $(O)/architecture.md docs/architecture.md

## check-isa: fail if src names an ISA outside its folder of src/isa, other than where src/isa/named says
check-isa:
	@tools/check-isa . src/isa/named

## check-includes: fail if a layer includes what src/layers does not allow
check-includes:
	@tools/check-includes . src/layers

## deps: install the Debian packages from packages.txt that are missing
deps:
	@tools/deps --install

## list: print this list
list:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16

## clean: remove the build root
clean:
	@if [ -e $(O) ] && [ ! -e $(O)/.vestige-build ]; then \
	    echo "$(O) was there before the first build; remove it by hand" >&2; exit 2; fi
	rm -rf $(O)
