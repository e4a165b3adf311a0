# SPDX-License-Identifier: MIT
# fastnet, with GNU make. `make help` lists the targets.

VERSION = 0.3.0-dev

# Variables that the user may set, on the command line or in the environment.
CFLAGS     ?= -O2 -g
PKG_CONFIG ?= pkg-config
BUILD      ?= build
PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
# Where zsh looks for completions; that of Debian has another place for packages.
ZSHDIR     ?= $(DATADIR)/zsh/site-functions
# Where systemd looks for units; UNITDIR= installs no unit.
UNITDIR    ?= $(PREFIX)/lib/systemd/system
# What takes the symbols out of the installed program; STRIP=: keeps them. With DESTDIR they stay, because
# makers of packages move them into another package.
STRIP      ?= $(if $(DESTDIR),:,$(or $(patsubst %-gcc,%-strip,$(filter %-gcc,$(CC))),strip))
# Further names for the program and its man pages, as symlinks: LINKS="netstat arp".
LINKS      ?=
# WERROR=1: warnings are errors. V=1: show the commands. SANITIZE: the sanitizers to build with.
WERROR     ?=
V          ?=
SANITIZE   ?=
# Patterns of the tests to run (TESTS='unit/* faults/*').
TESTS      ?=
# How many of them run side by side, and how many compilers before them: tests wait much of their time.
JOBS       ?= $(shell echo $$((2 * $$(nproc))))
# How long each fuzz target runs (60; for coverage 0), and each mutator (as long, but 20 at least);
# and the percentage of lines that the corpus must reach.
FUZZ_SECONDS   ?=
MUTATE_SECONDS ?= $(shell s=$(or $(FUZZ_SECONDS),60); echo $$((s > 20 ? s : 20)))
COVERAGE_MIN   ?= 70

# A build directory of its own has a program of its own.
PROGRAM = $(if $(filter build,$(BUILD)),fastnet,$(BUILD)/fastnet)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# --- Flags ------------------------------------------------------------------------------------

WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings \
	-Wformat=2 -Wundef -Wvla -Wnull-dereference $(if $(filter 1,$(WERROR)),-Werror)

# The stack of a thread can be small, with one guard page after it, so no frame of the program may be
# large (ASan makes frames larger). PROTECTION has the flags that the compiler has for its machine: a
# frame touches each of its pages, and jumps lead only to the beginning of functions and of calls.
frames     = $(if $(SANITIZE),,-Wframe-larger-than=16384)
accepted   = $(shell $(CC) -Werror $(1) -fsyntax-only -x c /dev/null 2>/dev/null && echo $(1))
PROTECTION = $(eval PROTECTION := $$(foreach flag,-fstack-clash-protection -fcf-protection \
	-mbranch-protection=standard,$$(call accepted,$$(flag))))$(PROTECTION)

# glibc checks what it can of buffers, but only when it is optimising, and ASan does it better.
# A level that the user names is kept.
optimised = $(filter-out -O0,$(filter -O%,$(CFLAGS)))
FORTIFY   = $(if $(SANITIZE)$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,$(if \
	$(optimised),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
SANITIZER = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
	-fno-omit-frame-pointer -DFASTNET_SANITIZED)
LINKED    = -pie

# Each start relocates the tables of words. With packed relocations a start is a tenth faster, if the C
# library reads them (glibc 2.36) and the linker writes them for this machine.
# PACKED= leaves them out: such a program also starts where glibc is older than that of the compiler.
packing = -Wl,-z,pack-relative-relocs
PACKED ?= $(eval PACKED := $$(shell echo '_Static_assert(__GLIBC_PREREQ(2, 36), ""); int main(void) { return 0; }' | \
	$(CC) -Werror -include features.h -x c - -pie -fPIE -Wl,--fatal-warnings $(packing) \
	-o /dev/null 2>/dev/null && echo $(packing)))$(PACKED)

# Run when first needed and then remembered: `make deps check` may have installed it by then.
lazily  = $(eval $(1) := $$(shell $(PKG_CONFIG) $(2) 2>/dev/null))$($(1))
PACKAGE_CFLAGS = $(call lazily,PACKAGE_CFLAGS,--cflags libmnl libcap)
PACKAGE_LIBS   = $(call lazily,PACKAGE_LIBS,--libs libmnl)
CMOCKA_LIBS    = $(call lazily,CMOCKA_LIBS,--libs cmocka)

# Times after 2038 and numbers of large files, also where the machine has 32 bits.
wide = -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64

all_cppflags = -D_GNU_SOURCE $(wide) -DFASTNET_VERSION='"$(VERSION)"' -Iinclude -Isrc $(FORTIFY) $(CPPFLAGS)
all_cflags   = -std=c11 -pthread -fPIE -fstack-protector-strong $(PROTECTION) $(WARNINGS) $(framed) \
	$(SANITIZER) $(PACKAGE_CFLAGS) $(CFLAGS) $(unoptimised)
all_ldflags  = -pthread $(LINKED) -Wl,-O1 -Wl,--as-needed -Wl,--hash-style=gnu \
	-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack $(PACKED) $(SANITIZER) $(CFLAGS) $(LDFLAGS)
# Libraries are searched in this order at each start. Nearly all symbols are those of the C library.
all_libs     = -lc $(PACKAGE_LIBS) $(LIBCAP) $(LDLIBS)

# A library that is loaded takes time at each start. LIBCAP=-lcap has this one loaded.
LIBCAP ?= $(or $(filter /%,$(shell $(CC) -print-file-name=libcap.a)),-lcap)

# --- What there is ----------------------------------------------------------------------------

object  = $(patsubst %.c,$(BUILD)/%.o,$(1))
program = $(patsubst %.c,$(BUILD)/%,$(1))

SOURCES := $(sort $(shell find src -name '*.c'))
HEADERS := $(sort $(shell find include src -name '*.h'))

MAIN  := $(call object,src/main.c)
ROOMS := $(call object,$(filter-out src/main.c,$(SOURCES)))

UNIT_SOURCES := $(wildcard tests/unit/*.c)
UNIT_TESTS   := $(call program,$(filter tests/unit/test_%,$(UNIT_SOURCES)))
UNIT_SHARED  := $(call object,$(filter-out tests/unit/test_%,$(UNIT_SOURCES)))

# A fuzz target has libFuzzer's main(), or one that replays files. What others share is linked too.
FUZZ_SOURCES := $(wildcard tests/fuzz/*.c)
FUZZ_TARGETS := $(call program,$(filter tests/fuzz/fuzz_%,$(FUZZ_SOURCES)))
FUZZING      := $(findstring fuzzer,$(SANITIZE))
FUZZ_SHARED  := $(call object,$(filter-out tests/fuzz/fuzz_% \
	$(if $(FUZZING),tests/fuzz/replay.c),$(FUZZ_SOURCES)))

HELPERS := $(call program,$(wildcard tests/helpers/*.c))
BENCH   := $(call program,$(wildcard tests/bench/*.c))

# The mutator, and the libraries that are preloaded into programs under test.
INTERPOSER := $(BUILD)/tests/mutate/interpose.so
PRELOADED  := $(INTERPOSER) $(addprefix $(BUILD)/tests/faults/,fail_malloc.so set_clock.so)
MUTATE     := $(BUILD)/tests/mutate/mutate
mutate_objects := $(filter-out $(INTERPOSER:.so=.o),$(call object,$(wildcard tests/mutate/*.c)))
MUTATORS    = $(or $(ONLY),netlink tree)

C_SOURCES  := $(SOURCES) $(sort $(wildcard tests/*/*.c))
C_FILES    := $(C_SOURCES) $(HEADERS) $(sort $(wildcard tests/*/*.h))
MAN_PAGES  := $(wildcard man/*.[1-9])
SCRIPTS     = $(shell grep -rlIE --exclude='*.[1-9]' '^\#!.*[/ ](ba)?sh$$' .ci .packaging man tests) $(wildcard tests/*/*.sh tests/*/*/*.sh)
PROGRAMS   := $(PROGRAM) $(UNIT_TESTS) $(FUZZ_TARGETS) $(HELPERS) $(BENCH) \
	$(MUTATE) $(PRELOADED)

# --- Building ---------------------------------------------------------------------------------

ifeq ($(V),1)
Q   =
say =
else
Q   = @
say = $(info $()  $(1)	$(2))
endif

all: $(PROGRAM) ## build ./fastnet (the default)

$(PROGRAM): $(MAIN) $(ROOMS)
$(UNIT_TESTS): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/shared.a $(BUILD)/rooms.a
$(UNIT_TESTS): extra = $(CMOCKA_LIBS)
$(FUZZ_TARGETS): $(BUILD)/%: $(BUILD)/%.o $(FUZZ_SHARED) $(ROOMS)
$(FUZZ_TARGETS): extra = $(if $(FUZZING),-fsanitize=fuzzer)
# It has functions in place of those of probes/connects.c.
$(BUILD)/tests/fuzz/fuzz_trace: extra += -Wl,--allow-multiple-definition
$(HELPERS) $(BENCH): $(BUILD)/%: $(BUILD)/%.o
$(addprefix $(BUILD)/tests/helpers/,socket_rows way addresses attempt attempts): $(BUILD)/rooms.a
$(MUTATE): $(mutate_objects)
$(BUILD)/src/%.o: private framed = $(frames)
# Optimising would take half of the time that a test needs. Some warnings need it, so not with WERROR.
ifeq ($(WERROR)$(FUZZING),)
$(BUILD)/tests/unit/%.o $(BUILD)/tests/fuzz/%.o: private unoptimised = -O0 -U_FORTIFY_SOURCE \
	-Wp,-U_FORTIFY_SOURCE
endif
# Only the program has sanitizers; libraries that are loaded into it use those.
$(PRELOADED): %.so: %.o
$(PRELOADED) $(PRELOADED:.so=.o): private SANITIZER = -fPIC
$(MUTATE) $(mutate_objects): private SANITIZER =
$(PRELOADED): private LINKED = -shared

$(PROGRAMS):
	$(call say,LINK,$@)$(Q)$(CC) $(all_ldflags) -o $@ $(filter %.o %.a,$^) $(extra) $(all_libs)

# From an archive the linker takes what a test uses: a third of the rooms, in half the time.
$(BUILD)/rooms.a: $(ROOMS) $(BUILD)/rooms
$(BUILD)/shared.a: $(UNIT_SHARED)
$(BUILD)/rooms.a $(BUILD)/shared.a:
	$(call say,AR,$@)$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(Q)$(CC) $(all_cppflags) $(commit) $(all_cflags) -MMD -MP -c -o $@ $<

# Holds the compiler and its flags; touched only when they change, and then everything is rebuilt.
flags  = $(CC) $(all_cppflags) $(all_cflags) $(all_ldflags) $(all_libs)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@$(PKG_CONFIG) --exists libmnl libcap 2>/dev/null || \
		{ echo 'libmnl, libcap or pkg-config is missing: run "make deps"' >&2; exit 1; }
	@printf '%s\n' '$(subst ','\'',$(flags))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# git archive writes the commit of a tarball into .commit; that of a clone is asked of git.
# One object has it, so that a new commit compiles and links little.
# git may say it to root, too: a make that root starts runs what the owner of the tree wrote anyway.
git = git --no-optional-locks -c safe.directory='*'
print_commit = grep -oE '^[0-9a-f]{12}' .commit || { [ -e .git ] && \
	$(git) describe --always --exclude='*' --abbrev=12 --dirty; } || echo unknown
$(MAIN): $(BUILD)/commit
$(MAIN): private commit = -DFASTNET_COMMIT='"$(shell cat $(BUILD)/commit)"'
$(BUILD)/commit: FORCE | $(BUILD)/flags
	@{ $(print_commit); } >$@.new 2>/dev/null
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# An object that no longer has a source must not keep a program looking up to date.
$(PROGRAM) $(UNIT_TESTS) $(FUZZ_TARGETS): $(BUILD)/rooms
$(BUILD)/rooms: FORCE | $(BUILD)/flags
	@printf '%s\n' '$(ROOMS)' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

.SECONDARY:
-include $(wildcard $(C_SOURCES:%.c=$(BUILD)/%.d))

# --- Dependencies -----------------------------------------------------------------------------

deps: ## install what building and testing needs
	@PKG_CONFIG='$(PKG_CONFIG)' tests/deps

deps-dev: deps ## ... and what linting and fuzzing need
	@PKG_CONFIG='$(PKG_CONFIG)' tests/deps dev

deps-recipes: deps ## ... and the programs whose recipes fastnet-fleet(7) has (Debian, Ubuntu)
	@PKG_CONFIG='$(PKG_CONFIG)' tests/deps recipes

# Named together with other goals they come first, whatever -j says.
asked := $(filter deps deps-dev deps-recipes,$(MAKECMDGOALS))
ifneq ($(asked),)
$(BUILD)/flags $(filter-out deps deps-dev deps-recipes FORCE,$(MAKECMDGOALS)): | $(asked)
endif

# --- Testing ----------------------------------------------------------------------------------

# Scripts run the program; a unit test or a target needs no more than itself. A pattern such as '*/x'
# may name any of them.
for_scripts := $(PROGRAM) $(HELPERS) $(BENCH) $(PRELOADED)
any_test     = $(if $(TESTS),$(filter *%,$(TESTS)),yes)
named_tests  = $(filter $(UNIT_TESTS) $(FUZZ_TARGETS),$(call program, \
	$(wildcard $(patsubst %,tests/%.c,$(patsubst fuzz/%,fuzz/fuzz_%,$(TESTS))))))
TESTED       = $(if $(any_test),$(UNIT_TESTS) $(FUZZ_TARGETS) $(for_scripts),$(named_tests) \
	$(if $(filter-out unit/% fuzz/%,$(TESTS)),$(for_scripts)))
tested: $(TESTED)

# Run JOBS jobs, unless the user gave -j, which MAKEFLAGS shows only in recipes.
side_by_side = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

check: ## run all tests but those of packages and recipes (TESTS='unit/*': some; JOBS=4: side by side)
	@$(MAKE) $(side_by_side) tested
	@BUILD='$(BUILD)' PROGRAM='$(PROGRAM)' SANITIZE='$(SANITIZE)' tests/run --jobs $(JOBS) $(TESTS)

check-packages: ## build packages, and test what is in them: minutes
	@$(MAKE) TESTS='$(or $(TESTS),packages/*)' check

check-recipes: ## run the recipes of fastnet-fleet(7) by Icinga, Zabbix, netdata, Prometheus and others
	@$(MAKE) TESTS='$(or $(TESTS),recipes/*)' check

check-doctor: ## test the doctor in every network with a fault, and in healthy networks: minutes
	@$(MAKE) $(side_by_side) tested
	@BUILD='$(BUILD)' PROGRAM='$(PROGRAM)' SANITIZE='$(SANITIZE)' WORLDS=all \
		tests/run 'doctor/check-doctor*' doctor/check-worlds

# Unit tests and fuzz replays with another C library, and with 32 bits. The libraries that they need
# are built by the same compiler.
compiler_musl = musl-gcc
compiler_i386 = gcc -m32
check-musl: ## ... unit and fuzz tests, built with musl (Debian: musl-tools)
check-i386: ## ... unit and fuzz tests, built with 32 bits (Debian: gcc-multilib)
check-musl check-i386: check-%:
	@test -e $(BUILD)/$*/libraries/lib/cmocka.pc || \
		CC='$(compiler_$*)' tests/libraries $(BUILD)/$*/libraries
	@for goal in all check; do \
		PKG_CONFIG_LIBDIR='$(abspath $(BUILD))/$*/libraries/lib' $(MAKE) BUILD=$(BUILD)/$* WERROR=1 \
			CC='$(compiler_$*)' LIBCAP=-lcap TESTS='$(or $(TESTS),unit/* fuzz/*)' $$goal || exit; \
	done

check-arch: ## unit tests and fuzz replays of another architecture, emulated (ARCH=s390x; Debian only)
	@tests/arch $(ARCH) $(TESTS)

check-kernels: ## compare listings in Debian's kernels, which qemu boots: minutes each (KERNELS=6.1)
	@$(MAKE) $(side_by_side) tested
	@BUILD='$(BUILD)' PROGRAM='$(PROGRAM)' KERNELS='$(KERNELS)' tests/kernels/run

check-headers: ## build with the kernel headers of Linux 5.10 (Debian only)
	@BUILD='$(BUILD)' CC='$(CC)' tests/kernels/headers

# A build directory of its own, because other flags rebuild all. Says what it leaves out.
changed_c = git diff --name-only --diff-filter=d HEAD -- '*.c' '*.h'; \
	git ls-files --others --exclude-standard -- '*.c' '*.h'
precommit: ## layout of changed files, no warnings, unit tests: seconds, and no other test or linter
	$(call say,LINT,layout of changed files)$(Q)files=$$($(changed_c)); test -z "$$files" || \
		clang-format --dry-run -Werror $$files
	@$(MAKE) BUILD=$(BUILD)/precommit WERROR=1 TESTS='unit/*' check
	@echo 'Not run: other tests (make check), sanitizers (make asan), linters (make lint).'

# By clang where there is one: gcc's UBSan reports to stderr only, where a test may not look.
sanitized = BUILD=$(BUILD)/asan SANITIZE=address,undefined CFLAGS='-O1 -g' \
	CC="$$(command -v clang || echo '$(CC)')"
asan: ## run all tests, built with the address and undefined behaviour sanitizers
	@$(MAKE) $(sanitized) check

columns: $(PROGRAM) ## write the tables of columns into fastnet-output(5)
	$(Q)FASTNET='$(abspath $(PROGRAM))' man/columns <man/fastnet-output.5 >$(BUILD)/columns.5 && \
		cat $(BUILD)/columns.5 >man/fastnet-output.5

pages: columns ## ... and the paragraphs of man/pieces, and the version, into all man pages
	$(Q)for page in $(MAN_PAGES); do \
		man/include <$$page | sed 's/^\.Os .*/.Os fastnet $(VERSION)/' >$(BUILD)/page && \
			cat $(BUILD)/page >$$page || exit; \
	done

bench: $(PROGRAM) $(BENCH) ## measure against ss, netstat and the kernel (QUICK=1, ONLY=ss, BASE=FILE: tests/bench/README.md)
	@BUILD='$(BUILD)' PROGRAM='$(PROGRAM)' tests/bench/bench

fuzz: fuzz-targets mutate ## fuzz each target (FUZZ_SECONDS=60), and mutate

fuzz-targets: ## ... without mutating; new inputs go to build/fuzz/corpus
	@$(MAKE) BUILD=$(BUILD)/fuzz SANITIZE=fuzzer-no-link,address,undefined CC=clang CFLAGS='-O1 -g' \
		FUZZ_SECONDS=$(or $(FUZZ_SECONDS),60) fuzz-run

# The inputs are the same in each run, so a failure comes from a change. "make asan" replays them with
# sanitizers.
fuzz-coverage: ## lines that the fuzz targets reach by their corpus (fails below COVERAGE_MIN=70)
	@rm -rf $(BUILD)/coverage/profiles
	@LLVM_PROFILE_FILE=$(abspath $(BUILD))/coverage/profiles/%p.profraw \
		$(MAKE) BUILD=$(BUILD)/coverage SANITIZE= CC=clang TESTS='fuzz/*' \
		CFLAGS='-O1 -fprofile-instr-generate -fcoverage-mapping' check
	@tests/fuzz/coverage $(BUILD)/coverage $(COVERAGE_MIN)

fuzz-run: $(patsubst $(BUILD)/tests/fuzz/fuzz_%,fuzz-run-%,$(FUZZ_TARGETS))
fuzz-run-%: $(BUILD)/tests/fuzz/fuzz_%
	@mkdir -p $(BUILD)/corpus/$*
	$(call say,FUZZ,$* for $(FUZZ_SECONDS) s)$(Q)$< -max_total_time=$(FUZZ_SECONDS) \
		-timeout=10 -artifact_prefix=$(BUILD)/$*- \
		$(BUILD)/corpus/$* $(wildcard tests/fuzz/corpus/$*) \
		>$(BUILD)/$*.log 2>&1 </dev/null || { tail -n 60 $(BUILD)/$*.log >&2; exit 1; }

soak: ## run fastnet top for 10 minutes while connections open and close (SOAK_SECONDS=600)
	@$(MAKE) $(side_by_side) $(PROGRAM) $(HELPERS)
	@FASTNET='$(abspath $(PROGRAM))' HELPERS='$(abspath $(BUILD)/tests/helpers)' \
		SOAK_SECONDS='$(SOAK_SECONDS)' tests/soak

mutate: ## list while netlink and /proc are mutated (MUTATE_SECONDS=60, ONLY=tree)
	@$(MAKE) $(sanitized) $(MUTATORS:%=mutate-run-%)

mutate-run-%: $(PROGRAM) $(MUTATE) $(INTERPOSER) $(HELPERS)
	$(call say,MUTATE,$* for $(MUTATE_SECONDS) s)$(Q)BUILD='$(BUILD)' FASTNET='$(PROGRAM)' \
		HELPERS='$(BUILD)/tests/helpers' MUTATE_SECONDS='$(MUTATE_SECONDS)' tests/mutate/$*

# --- Style ------------------------------------------------------------------------------------

LINTERS = lint-gcc lint-clang lint-format lint-cppcheck lint-tidy lint-shell lint-man lint-workflows
lint: $(LINTERS) ## compilers, cppcheck, clang-tidy, clang-format, shellcheck, mandoc: all silent

programs: $(PROGRAMS)

lint-gcc lint-clang: lint-%:
	@$(MAKE) BUILD=$(BUILD)/lint-$* CC=$* WERROR=1 programs >/dev/null

lint-format:
	$(call say,LINT,clang-format)$(Q)clang-format --dry-run -Werror $(C_FILES)

lint-cppcheck:
	$(call say,LINT,cppcheck)$(Q)cppcheck -j "$$(nproc)" --quiet --error-exitcode=1 --std=c11 --inline-suppr \
		--enable=warning,style,performance,portability --suppress=missingIncludeSystem \
		--suppress=redundantContinue \
		-D_GNU_SOURCE -Iinclude -Isrc $(C_SOURCES)

# clang-tidy prints the number of suppressed warnings, so its output is shown only if it fails. Tests are
# not analyzed, which takes minutes: sanitizers find these errors when the tests run.
tidy = case $$1 in tests/*) less='--checks=-clang-analyzer-*' ;; esac; \
	out=$$(clang-tidy --quiet $$less "$$1" -- -std=c11 $(all_cppflags) $(PACKAGE_CFLAGS) 2>&1) || \
	{ printf "%s\n" "$$out" | grep -v "warnings* generated"; exit 1; }
lint-tidy:
	$(call say,LINT,clang-tidy)$(Q)printf '%s\n' $(C_SOURCES) | \
		xargs -n 1 -P "$$(nproc)" sh -c '$(subst ','\'',$(tidy))' tidy

# SC2317: shellcheck does not see calls of functions whose name is in a variable or an argument.
lint-shell:
	$(call say,LINT,shellcheck)$(Q)printf '%s\n' $(SCRIPTS) | \
		xargs -n 4 -P "$$(nproc)" shellcheck -x -P SCRIPTDIR -e SC2317

# Empty files replace changes of this machine to the macros. A page of an operating system has no name
# after .Os, and mandoc takes these pages for such; without a name, groff writes BSD.
lint-man:
	$(Q)mkdir -p $(BUILD)/tmac && cd $(BUILD)/tmac && : >mdoc.local && : >man.local
	$(call say,LINT,man pages)$(Q)out=$$(mandoc -T lint $(MAN_PAGES) | \
		grep -v 'STYLE: operating system explicitly specified: Os fastnet'; for page in $(MAN_PAGES); do \
		GROFF_TMAC_PATH='$(abspath $(BUILD))/tmac' \
		LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z $$page 2>&1 >/dev/null; \
		done); test -z "$$out" || { printf '%s\n' "$$out" >&2; exit 1; }

# Few distributions have actionlint: go install github.com/rhysd/actionlint/cmd/actionlint@latest
lint-workflows:
	$(Q)if command -v actionlint >/dev/null; then echo '  LINT	workflows'; \
		actionlint .github/workflows/*.yml; else echo '  actionlint is missing: not run'; fi

format: ## lay out the C files as .clang-format says
	clang-format -i $(C_FILES)

# --- Installing -------------------------------------------------------------------------------

bin := $(DESTDIR)$(BINDIR)
man := $(DESTDIR)$(MANDIR)
unit := $(DESTDIR)$(UNITDIR)/fastnet-record.service
PERSONALITIES = netstat arp neigh conntrack ss sockets doctor why diff drops closed trace top traffic record

# Completions of $name: where each shell looks for them, and whether those that are there are ours.
each_completion = for shell in bash zsh fish; do case $$shell in \
	bash) file='$(DESTDIR)$(DATADIR)'/bash-completion/completions/$$name ;; \
	zsh) file='$(DESTDIR)$(ZSHDIR)'/_$$name ;; \
	fish) file='$(DESTDIR)$(DATADIR)'/fish/vendor_completions.d/$$name.fish ;; esac
is_our_completion = grep -qs "^\# $$shell completion for $$name, by fastnet$$" "$$file"

# The fastnet that writes the completions: if PROGRAM is for another machine, one that runs here.
COMPLETER ?= $(if $(findstring /,$(PROGRAM)),,./)$(PROGRAM)
section = $(subst .,,$(suffix $(1)))
is_ours = [ "$$(readlink '$(bin)'/$$name)" = fastnet ]

# Any other name than that of a personality behaves as fastnet does, so it has its page.
named_page = file='$(man)/man8'/$$name.8; page=fastnet-$$name.8; [ -e man/$$page ] || page=fastnet.8
is_our_page = [ "$$(readlink "$$file")" = $$page ]

install: $(PROGRAM) ## install to DESTDIR and PREFIX, with symlinks for LINKS="netstat arp"
	@for name in $(LINKS); do \
		case $$name in */* | . | .. | fastnet) \
			echo "LINKS: '$$name' is no name for a link; nothing was installed" >&2; exit 1 ;; \
		esac; \
		[ ! -e '$(bin)'/$$name ] && [ ! -L '$(bin)'/$$name ] || $(is_ours) || { \
			echo "$(bin)/$$name exists and is not fastnet's; nothing was installed" >&2; exit 1; }; done
	$(call say,INSTALL,$(bin)/fastnet)$(Q)install -D -m 755 $(PROGRAM) '$(bin)/fastnet' && \
		$(STRIP) '$(bin)/fastnet'
	$(call say,INSTALL,$(man))$(Q)$(foreach page,$(MAN_PAGES),install -D -m 644 $(page) \
		'$(man)/man$(call section,$(page))/$(notdir $(page))' &&) :
	$(if $(UNITDIR),$(call say,INSTALL,$(unit))$(Q)install -D -m 644 /dev/null '$(unit)' && \
		sed 's|@BINDIR@|$(BINDIR)|' .packaging/$(notdir $(unit)) >'$(unit)')
	@for name in fastnet $(filter $(PERSONALITIES),$(LINKS)); do $(each_completion); \
		if [ $$name = fastnet ]; then word=; else word=$$name; fi; \
		if [ -e "$$file" ] && [ -n "$$word" ] && ! $(is_our_completion); then \
			echo "$$file is not fastnet's and stays"; continue; fi; \
		install -D -m 644 /dev/null "$$file" && \
			$(COMPLETER) $$word --completion=$$shell >"$$file" || exit; done; done
	@for name in $(LINKS); do ln -sfn fastnet '$(bin)'/$$name; $(named_page); \
		there=$$(ls -d "$$file" "$$file".* 2>/dev/null); \
		if [ -n "$$there" ] && ! $(is_our_page); then \
			echo "$$there is not fastnet's and stays"; continue; fi; \
		ln -sfn $$page "$$file"; done
	@$(if $(DESTDIR),:,echo 'installed: try "fastnet s", "fastnet doctor", man fastnet')

uninstall: ## take back what install put there, with the same variables
	rm -f '$(bin)/fastnet' '$(unit)' $(foreach page,$(MAN_PAGES), \
		'$(man)/man$(call section,$(page))/$(notdir $(page))')
	@for name in fastnet $(PERSONALITIES); do $(each_completion); \
		if [ $$name = fastnet ] || $(is_our_completion); then rm -f "$$file"; fi; done; done
	@for name in $(PERSONALITIES) $(LINKS); do \
		if $(is_ours); then rm -f '$(bin)'/$$name; fi; $(named_page); \
		if $(is_our_page); then rm -f "$$file"; fi; done

# --- Packages ---------------------------------------------------------------------------------

DIST    = $(BUILD)/dist
tarball = fastnet-$(VERSION).tar

# The same bytes each time, because git and gzip write no time but that of the commit.
dist: ## a tarball of the last commit, with its checksum, in build/dist
	@[ -e .git ] || { echo 'make dist needs a clone: it packs a commit' >&2; exit 1; }
	@$(git) diff --quiet HEAD || echo 'What was changed since the last commit is left out.' >&2
	@mkdir -p $(DIST)
	$(git) -c tar.umask=0022 archive --prefix=fastnet-$(VERSION)/ HEAD >$(DIST)/$(tarball)
	gzip -9nf $(DIST)/$(tarball)
	cd $(DIST) && sha256sum $(tarball).gz >$(tarball).gz.sha256

# Where the project is at home, and who answers for its packages: releases and distributions set them.
HOMEPAGE   ?= https://fastnet.invalid
MAINTAINER ?= The fastnet authors <fastnet@fastnet.invalid>

deb rpm apk arch brew openwrt:
	@BUILD='$(BUILD)' VERSION='$(VERSION)' DIST='$(DIST)' HOMEPAGE='$(HOMEPAGE)' \
		MAINTAINER='$(MAINTAINER)' CC='$(CC)' .packaging/build $@
deb: ## packages for Debian and what comes from it, and their source, in build/dist
rpm: ## packages for Fedora and others, and their source, in build/dist
apk: ## an APKBUILD for Alpine, in build/dist
arch: ## a PKGBUILD for Arch
brew: ## a formula for Homebrew
openwrt: ## a Makefile for OpenWrt

# musl has no name service switch: names are those of /etc/hosts and of DNS, users those of /etc/passwd.
static: ## one program that needs no library, stripped, in build/dist (Debian only; ARCH=arm64)
	@VERSION='$(VERSION)' DIST='$(DIST)' HOMEPAGE='$(HOMEPAGE)' .packaging/static $(ARCH)

clean: ## remove what was built
	rm -rf $(BUILD) $(PROGRAM)

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' Makefile

FORCE:
.PHONY: all deps deps-dev deps-recipes tested check check-packages check-recipes check-doctor check-musl check-i386 check-arch \
	check-kernels check-headers precommit asan columns pages bench fuzz fuzz-targets fuzz-run \
	fuzz-coverage soak mutate lint $(LINTERS) programs \
	format install uninstall dist deb rpm apk arch brew openwrt static clean help FORCE
