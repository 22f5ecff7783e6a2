#!/usr/bin/env bash
# Provides a Vulkan adapter for the GPU tests: an installed one, otherwise Mesa's software adapter.
# If none can be installed, it says so and exits with 0; the tests are then skipped, each with a printed reason.
set -euo pipefail

drivers=(/usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json)
for driver in "${drivers[@]}"; do
    if [[ -e "$driver" ]] && ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1'; then
        exit 0
    fi
done
if [[ "$(uname)" == Darwin ]]; then
    exit 0 # Metal is part of the system
fi

packages=(mesa-vulkan-drivers libvulkan1)
if command -v apt-get >/dev/null && [[ "$(id -u)" == 0 ]]; then
    echo "installing a software GPU for the tests (apt-get install ${packages[*]})"
    if { apt-get install -qq -y --no-install-recommends "${packages[@]}" ||
        { apt-get update -qq && apt-get install -qq -y --no-install-recommends "${packages[@]}"; }; } >/dev/null 2>&1; then
        exit 0
    fi
    echo 'It could not be installed.'
fi
echo 'THE GPU TESTS WILL BE SKIPPED: there is no Vulkan driver.'
echo "Install one (Debian: apt-get install ${packages[*]} for a software adapter)."
