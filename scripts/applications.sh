# Functions that say what real applications need, how they are run, and what they print. Sourced, not run.
#
# They use these variables of the caller: device (pocl or intel), python (the interpreter of a virtual environment),
# build (a build folder, or empty), programs (tests/layer/applications), scratch (a folder for downloads),
# tests_of_pyopencl (a folder), digits (the program of that example), no_run (not empty if the device computes nothing),
# and record (the store in which digits records, or empty).

# Prints the path of the program that an application needs.
program_of() {
    case $1 in
    clinfo) echo clinfo ;;
    clpeak-*) echo clpeak ;;
    clblast-*) echo "clblast_tuner_${1#clblast-}" ;;
    clfft) echo clFFT-client ;;
    darktable) echo darktable-cltest ;;
    opencv) echo /usr/bin/python3 ;;
    digits) echo "${digits:-digits}" ;;
    hashcat-*) echo hashcat ;;
    ffmpeg) echo ffmpeg ;;
    pyopencl-*) echo "${PYOPENCL_PYTHON:-/usr/bin/python3}" ;;
    openmm | openvino-* | sycl) echo "${python:-no-python}" ;;
    *) echo "test-applications: no application named '$1'" >&2; exit 2 ;;
    esac
}

is_installed() {
    command -v "$(program_of "$1")" >/dev/null || return 1
    case $1 in
    pyopencl-*) "$(program_of "$1")" -c 'import pyopencl, pytest' 2>/dev/null ;;
    opencv) /usr/bin/python3 -c 'import cv2' 2>/dev/null ;;
    openmm) "$python" -c 'import openmm' 2>/dev/null ;;
    openvino-*) [[ $device == intel ]] && "$python" -c 'import openvino' 2>/dev/null ;;
    sycl) [[ -e $(runtime_of_sycl) ]] && "$python" -c 'import dpctl, dpnp' 2>/dev/null ;;
    esac
}

# Prints the path of Intel's OpenCL CPU runtime in the virtual environment.
runtime_of_sycl() {
    echo "$(dirname "$(dirname "$python")")/lib/libintelocl.so"
}

# Runs an application. Further arguments are a command that starts it, such as `ingot run --`.
run_application() {
    local application=$1
    shift
    case $application in
    clinfo) "$@" clinfo ;;
    clpeak-latency) "$@" clpeak --kernel-latency ;;
    clpeak-integer) "$@" clpeak --compute-integer --kernel-latency ;;
    clblast-*) "$@" "clblast_tuner_${application#clblast-}" -runs 1 -fraction 8 ;;
    clfft) "$@" clFFT-client -x 1024 -y 64 -b 4 ;;
    darktable) "$@" darktable-cltest ;;
    digits) # stores and records by itself
        "$@" "$digits" ${INGOT_PERSIST_DIR:+--store "$INGOT_PERSIST_DIR"} ${record:+--record "$record"} \
            ${no_run:+--no-run} --json digits.json
        ;;
    hashcat-crack)
        "$@" hashcat --force --potfile-disable --self-test-disable -m 0 -a 3 \
            "$(printf ingot | md5sum | cut -c -32)" '?l?l?l?l?l'
        ;;
    hashcat-*) "$@" hashcat --force -b -m "${application#hashcat-}" --runtime 5 ;;
    ffmpeg)
        "$@" ffmpeg -v error -init_hw_device opencl=gpu:0.0 -filter_hw_device gpu -f lavfi \
            -i testsrc2=size=320x240:rate=25:duration=1 -vf "$ffmpeg_filters" -f framemd5 -
        ;;
    opencv)
        export OPENCV_OPENCL_DEVICE=:CPU: OPENCV_OPENCL_CACHE_DIR=$PWD/opencv
        "$@" /usr/bin/python3 "$programs/opencv_images.py"
        ;;
    openmm) "$@" "$python" "$programs/openmm_water.py" ;;
    pyopencl-*)
        "$@" "$(program_of "$application")" -m pytest -q -rA -p no:cacheprovider \
            "$tests_of_pyopencl/test_${application#pyopencl-}.py"
        ;;
    openvino-*) "$@" "$python" "$programs/openvino_network.py" "${application#openvino-}" ;;
    sycl)
        mkdir -p vendors
        runtime_of_sycl >vendors/runtime.icd
        OCL_ICD_VENDORS=$PWD/vendors "$@" "$python" "$programs/sycl_arrays.py"
        ;;
    esac
}
ffmpeg_filters=format=yuv420p,hwupload,avgblur_opencl=sizeX=3,unsharp_opencl,hwdownload,format=yuv420p

# Prints the part of an application's output that must be the same in every run.
result_of() {
    case $1 in
    clinfo) sed -E '/Device LUID/d' ;; # Intel's simulated device prints uninitialized memory there
    ffmpeg | opencv | openmm | openvino-* | sycl) cat ;;
    digits) grep -oE '[0-9.]+% ' ;; # a simulated device prints no answers
    darktable) # without what depends on the home, and on whether it is a first run in it
        sed -E "s#$HOME#HOME#g"'; s/^ *[0-9.,]+ //; s/, NEW$//
            /took|benchmark|seconds|PERFORMANCE:|KERNEL LOADING TIME:|cached|scheduling profile/d'
        ;;
    clblast-* | clfft) sed -E 's/-?[0-9]+(\.[0-9]+)?/N/g; s/ +/ /g' ;; # the columns have the width of the figures
    clpeak-*) sed -E 's/-?[0-9]+(\.[0-9]+)?/N/g' ;; # a simulated device may end a launch before it began
    hashcat-crack) grep -E '^(Status|Recovered\.)|:ingot$' ;;
    hashcat-*) grep -E '^(\* Hash-Mode|\* Device #.*: )' | sed -E 's/, [0-9]+ MCU.*//; s#[0-9]+/[0-9]+ MB##' ;;
    pyopencl-*) grep -E '^(PASSED|FAILED|ERROR|SKIPPED)' | sed -E 's/ - .*//; s/ at 0x[0-9a-f]+//' | sort ;;
    esac
}

# Fetches PyOpenCL's tests, which only Debian's source package has. Sets tests_of_pyopencl.
fetch_pyopencl() {
    local options=(-o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$scratch/sources"
        -o "Dir::State::Lists=$scratch/lists" -o "APT::Sandbox::User=root" -qq)
    mkdir -p "$scratch/sources" "$scratch/lists/partial" "$scratch/pyopencl"
    local file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
        [[ ! -f $file ]] || sed -E 's/^deb /deb-src /; s/^Types: deb$/Types: deb-src/' "$file" \
            >"$scratch/sources/${file##*/}"
    done
    (
        cd "$scratch/pyopencl"
        apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only --tar-only pyopencl
        tar -xf pyopencl_*.orig.tar.*
    ) >&2 || return 1
    tests_of_pyopencl=$(echo "$scratch"/pyopencl/*/test)
    [[ -d $tests_of_pyopencl ]]
}

# Prints the path of a built file, by its name.
find_built() {
    find ${build:-build/release build/dev} -name "$1" ! -type d -print -quit 2>/dev/null | xargs -r readlink -f || true
}
