#ifndef LINEAR_CONFIG_H
#define LINEAR_CONFIG_H
#ifndef SIZE
#define SIZE 32
#endif
#define ALPHA REAL(1.5)
#define BETA REAL(0.5)
#endif
