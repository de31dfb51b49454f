#ifndef WEIGHTS_H
#define WEIGHTS_H
#define CENTER REAL(0.5)
#define SIDE REAL(0.125)
#endif
