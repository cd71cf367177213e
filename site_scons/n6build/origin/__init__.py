"""Where flashed bytes come from: provenance, bill of materials, and the notices of the licences in them."""
