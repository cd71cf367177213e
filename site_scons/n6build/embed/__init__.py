"""Files with which other build systems call n6build, and what they include."""
