# SPDX-License-Identifier: Apache-2.0
#
# Networks by n6build in a project that is built by GNU make, 4.3 or later (docs/embedding/make.md):
#
#     N6_BOARD := nucleo-n657
#     N6_MODEL := model/keyword.tflite
#     N6_APPLI := build/app.elf
#     include $(shell n6build --makefile)
#
# Options board, model, profile, backend, cmsis, fsbl, appli, data and sign are N6_BOARD and so on; N6_OPTIONS takes any, as
# on n6build's command line. With N6_APPLI the host's own rule links its program with $(N6_LIBS), and compiles with
# $(N6_CPPFLAGS). Targets: n6-library, n6-build (images and checks), n6-hex, n6-flash and n6-run (both with N6_BOARD_OPTIONS,
# such as probe=virtual), n6-clean. N6_LINKED := 0 is for a program that links the networks and a runtime of its own: it gets the
# weights, the checks and the flash of n6build, and does not wait for its library. N6_BUILD: folder of all that n6build makes, its
# alone. N6_CLEAN: the host's target that cleans.
ifeq ($(filter grouped-target,$(.FEATURES)),)
$(error n6build needs GNU make 4.3 or later, this is $(MAKE_VERSION))
endif
n6_default_goal := $(.DEFAULT_GOAL)
n6_makefiles := $(filter-out %/n6build.mk,$(MAKEFILE_LIST))

N6BUILD ?= n6build
N6_BUILD ?= build/n6build
N6_CLEAN ?= clean
n6_quoted = '$(subst ','\'',$(1))'
n6_given = $(if $(2),$(call n6_quoted,$(1)=$(2)))
N6_GIVEN = $(strip $(call n6_given,board,$(N6_BOARD)) $(call n6_given,model,$(N6_MODEL)) \
    $(call n6_given,profile,$(N6_PROFILE)) $(call n6_given,backend,$(N6_BACKEND)) $(call n6_given,cmsis,$(N6_CMSIS)) \
    $(call n6_given,fsbl,$(N6_FSBL)) $(call n6_given,appli,$(N6_APPLI)) $(call n6_given,data,$(N6_DATA)) \
    $(call n6_given,sign,$(N6_SIGN)) $(N6_OPTIONS))

.PHONY: n6-plan-again n6-flash n6-run n6-clean $(N6_CLEAN)

# Of make itself: -n, -q and -t are to change nothing.
n6_flags := $(filter-out --%,$(firstword -$(MAKEFLAGS)))
n6_dry := $(strip $(foreach n6_flag,n q t,$(findstring $(n6_flag),$(n6_flags))))
# make compares times: what came out as before is no reason to do more. -B wants everything done.
n6_if_changed := $(if $(findstring B,$(n6_flags)),,--if-changed)

# make makes what it includes; a target that only cleans needs no plan.
ifneq ($(filter-out $(N6_CLEAN) n6-clean,$(or $(MAKECMDGOALS),all)),)
ifeq ($(n6_dry),)
include $(N6_BUILD)/targets.mk
else
# Even then make would make what it includes; under this name nobody makes it.
-include $(N6_BUILD)/./targets.mk
n6-library n6-build n6-hex: $(N6_BUILD)/targets.mk
$(N6_LIBRARY): | $(N6_BUILD)/targets.mk
endif
endif

$(N6_BUILD)/targets.mk:
	@$(N6BUILD) embed make --build $(N6_BUILD) --makefiles $(call n6_quoted,$(n6_makefiles)) \
	    --given $(call n6_quoted,$(N6_GIVEN)) $(N6_GIVEN)

# Options that only matter on a board: probe, until and so on.
N6_BOARD_OPTIONS ?=

n6-flash: n6-build
	@$(N6BUILD) flash --build $(N6_BUILD) --jobs 1 $(N6_GIVEN) $(N6_BOARD_OPTIONS)

n6-run: n6-build
	@$(N6BUILD) flash run --build $(N6_BUILD) --jobs 1 $(N6_GIVEN) $(N6_BOARD_OPTIONS)

n6-clean:
	@if [ -d '$(N6_BUILD)/.n6build' ]; then rm -rf '$(N6_BUILD)'; fi

$(N6_CLEAN): n6-clean

.DEFAULT_GOAL := $(n6_default_goal)
