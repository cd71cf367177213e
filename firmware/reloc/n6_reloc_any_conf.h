/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the configuration of a model where code is compiled that all models are linked with.
 */
