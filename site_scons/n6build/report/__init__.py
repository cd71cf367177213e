"""The report of a build: memory, epochs, flash, checks, versions, what was rebuilt; as a page, as text and as JSON."""
