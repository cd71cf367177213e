/* SPDX-License-Identifier: Apache-2.0
 *
 * The field report: registers whose values only a real board has, printed by name. Programs include it if N6_FIELD_REPORT is 1.
 */
#ifndef N6_FIELD_H
#define N6_FIELD_H

/* Save the registers that are printed later. Call it before any register is changed. */
void n6_field_capture(void);

/* Print a line for each register; the first function prints the saved values. */
void n6_field_put_entry(void);
void n6_field_put_fsbl(void);
void n6_field_put_appli(void);

#endif
