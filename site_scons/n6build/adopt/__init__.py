"""Third-party STM32N6 projects as they lie on the disk: what they have, what is missing, and the lines that bring n6build in."""
