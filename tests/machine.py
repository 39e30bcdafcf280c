"""What tests need of the machine beside Chromium: Firefox, and lavapipe, Mesa's Vulkan driver that computes on the CPU.

python tests/machine.py lavapipe firefox        # installs those that are missing
"""

import os
import shutil
import sys
from pathlib import Path

from webq8.desktop.chrome import apt_install

MANIFESTS = [Path(folder) / "vulkan" / "icd.d" for folder in ("/usr/share", "/usr/local/share", "/etc")]

PACKAGES = {"lavapipe": "mesa-vulkan-drivers", "firefox": "firefox-esr"}


def lavapipe() -> str | None:
    """The manifest by which Vulkan's loader finds the driver."""
    return next((str(file) for folder in MANIFESTS for file in sorted(folder.glob("lvp_icd*.json"))), None)


def firefox() -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


def environment(manifest: str = "/dev/null") -> dict[str, str]:
    """This process's environment, in which all Vulkan drivers are hidden but one, by default that as well."""
    # SwiftShader inside Chromium is found by this variable too, which others would override
    others = ("VK_DRIVER_FILES", "VK_ADD_DRIVER_FILES")
    return {n: v for n, v in os.environ.items() if n not in others} | {"VK_ICD_FILENAMES": manifest}


def need(name: str) -> str:
    """Where lavapipe or Firefox is, installed where this user may."""
    find = {"lavapipe": lavapipe, "firefox": firefox}[name]
    if find() is None:
        apt_install(PACKAGES[name])
    found = find()
    if found is None:
        raise RuntimeError(f"{name} is not installed: apt-get install {PACKAGES[name]}, as root, or your system's like")
    return found


if __name__ == "__main__":
    try:
        for wanted in sys.argv[1:]:
            print(f"webq8: {wanted}: {need(wanted)}")
    except RuntimeError as error:
        sys.exit(f"webq8: {error}")
