/* Text on the board's USART1, which the FSBL has opened at 115200 baud or at the rate in the board's file. */
#ifndef SERIAL_H
#define SERIAL_H

void serial_open(void);
void serial_write(const char *text);
void serial_write_number(unsigned value);

#endif
