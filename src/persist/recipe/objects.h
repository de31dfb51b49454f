/*
 * objects.h - how the OpenCL layer describes what clCompileProgram made.
 */
#ifndef INGOT_PERSIST_RECIPE_OBJECTS_H
#define INGOT_PERSIST_RECIPE_OBJECTS_H

#define OBJECT_BACKEND "opencl_object"
/* The link options of an object that was compiled with NULL for options, which PoCL does not treat like "". */
#define OBJECT_WITHOUT_OPTIONS "-without-compile-options"

#endif
