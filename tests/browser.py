"""Headless Chromium for the tests of pages, without requests to the network."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from patience import NET_S


def browse(page: Path, folder: Path, *options: str, query: str = "") -> str:
    """Return the output of headless Chromium for this page.

    The test is skipped if there is no Chromium.

    Args:
        page: File of the page.
        folder: Folder for the profile of the browser.
        options: Further options of Chromium.
        query: Query behind the page's address, such as '?q=word'.
    """
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no browser: chromium is not in PATH, make setup-tests installs it")
    quiet = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync"
    command = [browser, "--headless", *quiet.split(), "--disable-component-update", "--hide-scrollbars"]
    command += [f"--user-data-dir={folder / 'profile'}", *options, page.as_uri() + query]
    result = subprocess.run(command, capture_output=True, text=True, timeout=NET_S, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout
