// options: -I common
#include "graph/nodes.h"
#include "graph/edges.h"
#include "common/types.h"
KERNEL void bfs(GLOBAL const struct node *nodes, GLOBAL const struct edge *edges, GLOBAL int *cost)
{
    const int n = ID(0);
    for (int i = 0; i < nodes[n].count; ++i)
        cost[edges[nodes[n].first + i].to] = cost[n] + edges[nodes[n].first + i].cost;
}
