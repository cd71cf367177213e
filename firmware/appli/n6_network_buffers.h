/* SPDX-License-Identifier: Apache-2.0
 *
 * The buffers of a network linked into the Appli, or of an installed relocatable model.
 */
#ifndef N6_NETWORK_BUFFERS_H
#define N6_NETWORK_BUFFERS_H

#include "n6_ll_aton.h"

#ifdef LL_ATON_RT_RELOC

#include "ll_aton_reloc_network.h"

#define n6_network_inputs(instance) ll_aton_reloc_get_input_buffers_info(instance, -1)
#define n6_network_outputs(instance) ll_aton_reloc_get_output_buffers_info(instance, -1)
#define n6_network_set_input(instance, index, data, bytes) ll_aton_reloc_set_input(instance, index, data, bytes)
#define n6_network_set_output(instance, index, data, bytes) ll_aton_reloc_set_output(instance, index, data, bytes)

#else

#if N6_LL_ATON_IS_FROM(1, 1, 1)
#define n6_network_inputs(instance) LL_ATON_Input_Buffers_Info(instance)
#define n6_network_outputs(instance) LL_ATON_Output_Buffers_Info(instance)
#else
/* In older releases these functions take no instance. */
#define n6_network_inputs(instance) (instance)->network->input_buffers_info()
#define n6_network_outputs(instance) (instance)->network->output_buffers_info()
#endif
#define n6_network_set_input(instance, index, data, bytes) (instance)->network->input_setter(index, data, bytes)
#define n6_network_set_output(instance, index, data, bytes) (instance)->network->output_setter(index, data, bytes)

#endif
#endif
