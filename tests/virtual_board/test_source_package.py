"""The system's lists of binary packages, read as lists of source packages."""

from __future__ import annotations

from n6build.board.virtual_board.source_package import as_source_list, as_source_stanzas


def test_each_one_line_entry_becomes_a_source_entry_with_its_options() -> None:
    text = (
        "# deb http://mirror.example/os release main\n"
        "deb [arch=amd64 signed-by=/key.gpg] http://mirror.example/os release main contrib\n"
        "  deb\thttp://mirror.example/os release-updates main\n"
        "deb-src http://mirror.example/os release main\n"
    )
    assert as_source_list(text) == (
        "# deb http://mirror.example/os release main\n"
        "deb-src [arch=amd64 signed-by=/key.gpg] http://mirror.example/os release main contrib\n"
        "deb-src http://mirror.example/os release-updates main\n"
        "deb-src http://mirror.example/os release main\n"
    )


def test_stanzas_change_their_type_and_nothing_else() -> None:
    text = "Types: deb deb-src\nURIs: http://mirror.example/os\nSuites: release\nEnabled: no\n\nTypes: deb\nSuites: security\n"
    assert as_source_stanzas(text) == (
        "Types: deb-src\nURIs: http://mirror.example/os\nSuites: release\nEnabled: no\n\nTypes: deb-src\nSuites: security\n"
    )
