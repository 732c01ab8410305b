/* The network between the replicas and the API server, in place of live/http.c. */
#ifndef TAFFRAIL_DETERMINISTIC_TRANSPORT_H
#define TAFFRAIL_DETERMINISTIC_TRANSPORT_H

#include "kube/kind.h"

void transport_begin(void);
/* Until then, answers take seconds, or nothing answers. */
void transport_slow(int64_t until_us);
void transport_outage(int64_t until_us);
/* Answers to the single requests of a replica come at late_until_us at the earliest; from then to
 * until_us none of its requests arrives. */
void transport_cut_off(int replica, int64_t late_until_us, int64_t until_us);
/* Until then, requests for the kind get this status. */
void transport_forbid(enum kind kind, unsigned status, int64_t until_us);
/* The API server forgets its history. */
void transport_compact(void);
/* Ends all of these. */
void transport_mend(void);
/* The clients of a replica that was killed are gone. */
void transport_drop(int replica);

#endif
