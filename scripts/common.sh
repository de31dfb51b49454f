# Functions that the scripts share. Sourced, not run. Changes to the root of the repository.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() {
    printf '\n== %s\n' "$*"
}

# version_of HEADER: prints the version, such as "1.0.0", that include/ingot/ingot.h or a copy of it states.
version_of() {
    sed -n 's/^#define INGOT_VERSION_[A-Z]* //p' "$1" | paste -sd .
}

# configure_preset PRESET [CMAKE_OPTIONS...]: configures build/PRESET.
configure_preset() {
    local preset=$1
    shift
    say "Configuring $preset"
    cmake --preset "$preset" "$@"
}

# build_preset PRESET [CMAKE_OPTIONS...]
build_preset() {
    local preset=$1
    shift
    say "Building $preset"
    cmake --build --preset "$preset" --parallel "$(nproc)" "$@"
}

# configure_and_build PRESET [CMAKE_OPTIONS...]: builds in build/PRESET.
configure_and_build() {
    configure_preset "$@"
    build_preset "$1"
}

# Prints a line for each device: its name, or why it is missing.
show_devices() {
    local device package version reason
    for device in pocl intel level_zero-tgllp level_zero-pvc; do
        case $device in
        pocl) package=pocl-opencl-icd ;;
        *) package=intel-opencl-icd ;;
        esac
        if reason=$(scripts/with-device --check "$device" 2>&1); then
            version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null || echo '(not a Debian package)')
            printf '%-16s %s %s%s\n' "$device" "$package" "$version" "${reason:+ (\"$reason\")}"
        else
            printf '%-16s %s\n' "$device" "$reason"
        fi
    done
}
