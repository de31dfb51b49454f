#define BLOCK 8
#define DEPTH 3