# SPDX-License-Identifier: Apache-2.0
#
# Networks by n6build in a project that is built by GNU make, 4.3 or later (docs/embedding/make.md):
#
#     N6_BOARD := nucleo-n657
#     N6_MODEL := model/keyword.tflite
#     N6_APPLI := build/app.elf
#     include $(shell n6build --makefile)
#
# Options board, model, profile, backend, cmsis, fsbl, appli, data and sign are N6_BOARD and so on; N6_OPTIONS takes any, as on
# n6build's command line. With N6_APPLI the host's own rule links its program with $(N6_LIBS), and compiles with $(N6_CPPFLAGS);
# objects that include generated headers are made behind them: $(OBJECTS): | $(N6_LIBRARY). Targets: n6-library, n6-build
# (images and checks), n6-hex, n6-flash and n6-run (both with N6_BOARD_OPTIONS, such as probe=virtual), n6-clean. N6_LINKED := 0
# is for a program that links the networks and a runtime of its own: it gets the weights, the checks and the flash of n6build,
# and does not wait for its library. N6_NEEDS: files that the host's own rules make and n6build reads, such as a trained model.
# N6_BUILD: folder of all that n6build makes, its alone: rules of the host may name any file in it. N6_CLEAN: the host's target
# that cleans.
#
# n6build decides what is up to date. Each target is one call of it, which does all its steps in one process, as many at a time as -j
# allows, and leaves the times of files alone whose bytes are as before. With nothing to do, n6build's front answers in milliseconds.
ifeq ($(filter grouped-target,$(.FEATURES)),)
$(error n6build needs GNU make 4.3 or later, this is $(MAKE_VERSION))
endif
n6_default_goal := $(.DEFAULT_GOAL)
n6_makefiles := $(strip $(filter-out %/n6build.mk,$(MAKEFILE_LIST)))

N6BUILD ?= n6build
N6_BUILD ?= build/n6build
N6_CLEAN ?= clean
n6_quoted = '$(subst ','\'',$(1))'
n6_given = $(if $(2),$(call n6_quoted,$(1)=$(2)))
N6_GIVEN = $(strip $(call n6_given,board,$(N6_BOARD)) $(call n6_given,model,$(N6_MODEL)) \
    $(call n6_given,profile,$(N6_PROFILE)) $(call n6_given,backend,$(N6_BACKEND)) $(call n6_given,cmsis,$(N6_CMSIS)) \
    $(call n6_given,fsbl,$(N6_FSBL)) $(call n6_given,appli,$(N6_APPLI)) $(call n6_given,data,$(N6_DATA)) \
    $(call n6_given,sign,$(N6_SIGN)) $(N6_OPTIONS))

# The same files for each board, model and profile: the linker script names the libraries of the runtime.
N6_LIBRARY := $(N6_BUILD)/libn6networks.a $(N6_BUILD)/n6_networks.ld
n6_include ?= $(call n6_quoted,$(shell $(N6BUILD) --include-dir))
N6_CPPFLAGS := -I$(n6_include) -I$(N6_BUILD)/include
N6_LIBS := $(N6_LIBRARY)

# The host's program, as the host's rule spells it.
n6_space := $() $()
n6_named := $(patsubst appli=%,%,$(filter appli=%,$(subst ',,$(subst ",,$(N6_OPTIONS)))))
n6_program := $(or $(subst $(n6_space),\ ,$(N6_APPLI)),$(n6_named))
n6_linked := $(if $(filter 0,$(N6_LINKED)),,library)

# The front is asked with the words of the call that it answers. n6_ask: set by n6build.mk of the build folder.
n6_words = $(1) --build $(N6_BUILD) --host $(call n6_quoted,$(n6_makefiles)) $(N6_GIVEN)
n6_call = N6BUILD=$(call n6_quoted,$(N6BUILD)) $(N6BUILD) $(n6_words)
n6_front = N6BUILD=$(call n6_quoted,$(N6BUILD)) $(or $(n6_ask),false) n6build $(n6_words) 2> /dev/null
# Of -n and the like, people see the call alone.
n6_bring = $(if $(n6_dry),$(n6_call),{ $(n6_front) || $(n6_call); })
n6_done := $(N6_BUILD)/.n6build

# Options -n, -q and -t change nothing of n6build's: what they show or say is the answer of n6build.
n6_flags := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
n6_dry := $(strip $(foreach n6_flag,n q t,$(findstring $(n6_flag),$(n6_flags))))
ifneq ($(n6_dry),)
ifneq ($(filter-out $(N6_CLEAN) n6-clean,$(or $(MAKECMDGOALS),all)),)
n6_fresh := $(shell { $(call n6_call,$(n6_linked) build) --question && echo $(n6_linked) build || \
    { $(call n6_call,library) --question && echo library; }; } 2> /dev/null)
endif
n6_force = $(if $(filter $(1),$(n6_fresh)),,n6-force)
else
n6_force = n6-force
n6_plus := +
endif

.PHONY: n6-force n6-library n6-build n6-hex n6-flash n6-run n6-clean $(N6_CLEAN)
n6-library: $(N6_LIBRARY)
n6-build: $(n6_done)/host-build
n6-hex: $(n6_done)/host-hex

# Where all is up to date, images included, there is no more to ask in this call of make, unless the program is linked again.
$(n6_done)/host-library: $(call n6_force,library) $(N6_NEEDS)
	$(n6_plus)@$(if $(n6_linked),$(if $(n6_dry),,$(call n6_front,library build) ||)) { $(call n6_bring,library) && : > $@; }

$(n6_done)/host-build: $(if $(n6_linked),$(n6_done)/host-library) $(n6_program) $(N6_NEEDS)
	$(n6_plus)@$(call n6_bring,$(n6_linked) build) && : > $@

$(n6_done)/host-hex: $(if $(n6_linked),$(n6_done)/host-library) $(n6_program) $(N6_NEEDS) n6-force
	$(n6_plus)@$(call n6_bring,hex) && : > $@

# The library's file is the reason elsewhere.
ifneq ($(n6_dry)$(if $(n6_linked),,0),)
$(n6_done)/host-build: $(call n6_force,build)
endif

# With an empty recipe, make looks at the time of the file, which is as before where its bytes are; with -n and -q it does not.
$(N6_LIBRARY): $(if $(call n6_force,library),$(n6_done)/host-library) ;
$(N6_BUILD)/include/%: $(if $(call n6_force,library),$(n6_done)/host-library) ;
$(N6_BUILD)/%.hex: $(n6_done)/host-hex ;
$(N6_BUILD)/%: $(n6_done)/host-build ;
$(N6_BUILD)/n6build.mk: ;

ifneq ($(n6_linked),)
$(n6_program): $(N6_LIBRARY)
endif

# Options that only matter on a board: probe, until and so on.
N6_BOARD_OPTIONS ?=

n6-flash: n6-build
	+@$(call n6_call,flash) $(N6_BOARD_OPTIONS)

n6-run: n6-build
	+@$(call n6_call,flash run) $(N6_BOARD_OPTIONS)

n6-clean:
	@if [ -d '$(N6_BUILD)/.n6build' ]; then rm -rf '$(N6_BUILD)'; fi

$(N6_CLEAN): n6-clean

.DEFAULT_GOAL := $(n6_default_goal)
