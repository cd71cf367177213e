/* SPDX-License-Identifier: Apache-2.0
 *
 * MCUboot includes this header, and calls nothing of it in RAM-load mode.
 */
