/* The doors of the replicas, in place of libmicrohttpd and sockets, and those who come: API servers
 * with reviews, and the kubelet. */
#ifndef TAFFRAIL_DETERMINISTIC_DOOR_H
#define TAFFRAIL_DETERMINISTIC_DOOR_H

#include "bytes.h"

enum asked { ASKED_BAD, ASKED_GOOD, ASKED_PIN, ASKED_LARGE, ASKED_NONSENSE, ASKED_COUNT };

struct visit {
    int replica;
    enum asked asked;
    unsigned requests; /* one after the other */
    bool slow;         /* its bytes take seconds */
    bool leaves;       /* before the answer */
};
/* Somebody comes with reviews. */
void door_visit(const struct visit *visit);
/* The kubelet asks whether the replica is ready; judged by answers.c. */
void door_probe(int replica);
/* The doors of a replica that was killed are gone. */
void door_drop(int replica);
bool door_is_open(int replica);

struct door_counts {
    uint64_t asked[ASKED_COUNT], turned_away;
};
extern struct door_counts door_counts;

#endif
