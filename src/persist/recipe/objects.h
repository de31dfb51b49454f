/*
 * objects.h - defines how the OpenCL layer describes objects, which are programs that were made with clCompileProgram.
 */
#ifndef INGOT_PERSIST_RECIPE_OBJECTS_H
#define INGOT_PERSIST_RECIPE_OBJECTS_H

#define OBJECT_BACKEND "opencl_object"
/* Stands in the link options of an object whose options were NULL, because PoCL does not treat NULL like "". */
#define OBJECT_WITHOUT_OPTIONS "-without-compile-options"

#endif
