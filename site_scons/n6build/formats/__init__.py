"""What C and Python both know, described once: each module has one FORMAT, from which a C header is generated."""
