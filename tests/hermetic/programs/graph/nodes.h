#ifndef NODES_H
#define NODES_H
#include "edges.h" /* and back */
struct node {
    int first;
    int count;
};
#endif
