/* SPDX-License-Identifier: Apache-2.0
 *
 * For a field report: registers that only a real board knows, printed by name. Programs have it where N6_FIELD_REPORT is 1.
 */
#ifndef N6_FIELD_H
#define N6_FIELD_H

/* Keeps what is printed later: to be called before anything is changed. */
void n6_field_capture(void);

/* Each prints a line for each register; the first what was captured. */
void n6_field_put_entry(void);
void n6_field_put_fsbl(void);
void n6_field_put_appli(void);

#endif
