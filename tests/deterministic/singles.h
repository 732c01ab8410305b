/* The objects that replicas write: the Lease, the Secret, the webhook configurations. */
#ifndef TAFFRAIL_DETERMINISTIC_SINGLES_H
#define TAFFRAIL_DETERMINISTIC_SINGLES_H

#include "bytes.h"
#include "live/client.h"

/* How the API server answers a replica's request. Returns the HTTP status. */
unsigned singles_answer(int replica, enum call_verb verb, enum resource resource, struct text body,
                        struct bytes *reply);
/* Whether the replica may send it: only the leader writes. Called by the thread that sends. */
void singles_check(int replica, const struct call_request *request);
/* Never do two replicas lead. */
void singles_check_leaders(void);
/* The replica that leads; WORLD: none. */
int singles_leader(void);
/* The Lease of a replica that was killed does not count. */
void singles_drop(int replica);

/* Somebody else meddles. */
void singles_lose_secret(void);
void singles_spoil_secret(void);
void singles_spoil_bundle(uint64_t chance);

/* Whether every API server trusts the certificate (PEM): all bundles of all webhooks that were
 * published within the time do. */
bool singles_trust(const char *certificate, int64_t within_us);
/* Whether the Secret has a leaf and all entries the Secret's bundle. */
bool singles_settled(char *why, size_t why_bytes);
uint64_t singles_writes(void);

#endif
