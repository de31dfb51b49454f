#ifndef EDGES_H
#define EDGES_H
struct edge {
    int from;
    int to;
    int cost;
};
#include "nodes.h"
#endif
