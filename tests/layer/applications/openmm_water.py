"""Simulates a box of charged particles with OpenMM's OpenCL platform and PME, and prints its energy.

OpenMM compiles about a dozen programs for that. It has no cache of its own.
"""
import openmm
from openmm import unit

side, count = 3.0, 8  # nanometers, particles per side

system = openmm.System()
system.setDefaultPeriodicBoxVectors(*(openmm.Vec3(*(side if i == j else 0 for j in range(3))) for i in range(3)))
force = openmm.NonbondedForce()
force.setNonbondedMethod(openmm.NonbondedForce.PME)
force.setCutoffDistance(1.0)
positions = []
for i in range(count**3):
    x, y, z = i % count, i // count % count, i // count**2
    system.addParticle(20.0)
    force.addParticle(0.5 if (x + y + z) % 2 else -0.5, 0.25, 0.5)
    positions.append(openmm.Vec3(x, y, z) * (side / count))
system.addForce(force)
system.addForce(openmm.CMMotionRemover())

context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("OpenCL"))
context.setPositions(positions)
energy = context.getState(getEnergy=True).getPotentialEnergy()
context.getIntegrator().step(5)
print(context.getPlatform().getPropertyValue(context, "DeviceName"))
print(round(energy.value_in_unit(unit.kilojoule_per_mole), 1))
