#define BLOCK 32
#define DEPTH 5
