"""The origin of flashed bytes: provenance, bill of materials, licence notices."""
