/* What replicas are asked, and what they may answer. */
#ifndef TAFFRAIL_DETERMINISTIC_ANSWERS_H
#define TAFFRAIL_DETERMINISTIC_ANSWERS_H

#include "door.h"

struct question {
    enum asked asked;
    const char *path, *target;
    char uid[24];
    int claim; /* of ASKED_PIN: the one that the Pod mounts */
    struct bytes body;
};

void answers_ask(enum asked asked, struct question *question);
void answers_judge(int replica, const struct question *question, unsigned status,
                   const struct bytes *body);
void answers_judge_ready(int replica, unsigned status, const struct bytes *body);
/* The certificate (PEM) of a handshake. */
void answers_check_certificate(int replica, const char *certificate);
/* From now on the replica has to be well; until then it is only not to lie. */
void answers_expect_well(bool well);
/* Certificates, clocks or CA bundles have just been meddled with. */
void answers_disturb_trust(void);
/* The policies on the disk of a replica: the newest, and the newest that can be loaded. */
void answers_set_policy(int replica, uint64_t number, bool good);
uint64_t answers_good_policy(int replica);
/* A replica has begun a new life. */
void answers_forget(int replica);
/* Whether the replica has shown since then that it is well. */
bool answers_is_well(int replica, char *why, size_t why_bytes);

struct answer_counts {
    uint64_t denied, allowed, pinned, refused, ready, not_ready, handshakes;
};
extern struct answer_counts answer_counts;

#endif
