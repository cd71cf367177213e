/* Text on USART1 of the board, which the first program has opened at 115200 baud or what its board says. */
#ifndef SERIAL_H
#define SERIAL_H

void serial_open(void);
void serial_write(const char *text);
void serial_write_number(unsigned value);

#endif
