"""Filters images with OpenCV's T-API on the first OpenCL device, and prints a checksum of each result.

Each operation and type of pixel is a program of its own. OpenCV's own cache is in OPENCV_OPENCL_CACHE_DIR. On a CPU,
OpenCV uses OpenCL only with OPENCV_OPENCL_DEVICE=:CPU:.
"""
import zlib

import cv2
import numpy as np

kernel = np.ones((3, 3), np.uint8)
cross = cv2.getStructuringElement(cv2.MORPH_CROSS, (5, 5))

operations = {
    "add": lambda a, b: cv2.add(a, b),
    "absdiff": lambda a, b: cv2.absdiff(a, b),
    "min": lambda a, b: cv2.min(a, b),
    "compare": lambda a, b: cv2.compare(a, b, cv2.CMP_GT),
    "add_weighted": lambda a, b: cv2.addWeighted(a, 0.5, b, 0.25, 1.0),
    "blur": lambda a, b: cv2.blur(a, (5, 5)),
    "gaussian": lambda a, b: cv2.GaussianBlur(a, (5, 5), 1.0),
    "median": lambda a, b: cv2.medianBlur(a, 3),
    "erode": lambda a, b: cv2.erode(a, kernel),
    "dilate": lambda a, b: cv2.dilate(a, cross),
    "gradient": lambda a, b: cv2.morphologyEx(a, cv2.MORPH_GRADIENT, kernel),
    "sobel": lambda a, b: cv2.Sobel(a, cv2.CV_32F, 1, 0),
    "laplacian": lambda a, b: cv2.Laplacian(a, cv2.CV_32F),
    "resize": lambda a, b: cv2.resize(a, (61, 47), interpolation=cv2.INTER_LINEAR),
    "resize_area": lambda a, b: cv2.resize(a, (48, 32), interpolation=cv2.INTER_AREA),
    "warp": lambda a, b: cv2.warpAffine(a, np.float32([[1, 0.1, 2], [0, 1, 3]]), (96, 64)),
    "flip": lambda a, b: cv2.flip(a, 1),
    "transpose": lambda a, b: cv2.transpose(a),
    "threshold": lambda a, b: cv2.threshold(a, 100, 200, cv2.THRESH_BINARY)[1],
    "pyramid": lambda a, b: cv2.pyrDown(a),
    "border": lambda a, b: cv2.copyMakeBorder(a, 2, 2, 2, 2, cv2.BORDER_REFLECT),
}


def images(channels, kind):
    random = np.random.default_rng(1)
    shape = (64, 96) if channels == 1 else (64, 96, channels)
    return [cv2.UMat(random.integers(0, 200, shape).astype(kind)) for _ in range(2)]


def main():
    assert cv2.ocl.haveOpenCL()
    cv2.ocl.setUseOpenCL(True)
    for channels, kind in ((1, np.uint8), (3, np.uint8), (4, np.uint8), (1, np.float32)):
        a, b = images(channels, kind)
        for name, operation in operations.items():
            result = operation(a, b).get()
            print(name, channels, kind.__name__, result.shape, zlib.crc32(np.ascontiguousarray(result).tobytes()))


main()
