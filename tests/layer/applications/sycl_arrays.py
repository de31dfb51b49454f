"""Computes with arrays by SYCL kernels on the OpenCL CPU device of Intel's runtime, and prints the results."""
import dpctl
import dpnp

queue = dpctl.SyclQueue("opencl:cpu")
print(queue.sycl_device.name, queue.sycl_device.driver_version)
values = dpnp.arange(1000, dtype="f4", sycl_queue=queue)
square = dpnp.reshape(values[:900], (30, 30))
print(float(dpnp.sum(dpnp.sqrt(values) * 2 + values)))
print(float(dpnp.sort(values)[-1]))
print(float(dpnp.sum(dpnp.matmul(square, square))))
