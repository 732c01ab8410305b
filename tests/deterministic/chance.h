/* The chance of a run: a seed, and the deeds that come of it. A deed is whatever the world does to
 * the program; the shrinker leaves some out. */
#ifndef TAFFRAIL_DETERMINISTIC_CHANCE_H
#define TAFFRAIL_DETERMINISTIC_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEEDS(DEED)                                                                      \
    DEED(CHANGE, "change")             /* an object of the cluster is put or removed */  \
    DEED(STORM, "storm")               /* many of them at once */                        \
    DEED(COMPACT, "compact")           /* the API server forgets its history: 410 */     \
    DEED(REFUSE, "refuse")             /* it answers with an error */                    \
    DEED(GARBAGE, "garbage")           /* it says what makes no sense */                 \
    DEED(CUT, "cut")                   /* a connection ends, anywhere */                 \
    DEED(STALL, "stall")               /* a connection stays open, and silent */         \
    DEED(REPEAT, "repeat")             /* events come twice */                           \
    DEED(SLOW, "slow")                 /* every answer takes seconds, for minutes */     \
    DEED(OUTAGE, "outage")             /* no answer at all, for minutes */               \
    DEED(CUT_OFF, "cut-off")           /* a replica hears late, then not at all */       \
    DEED(FORBID, "forbid")             /* a kind is refused with 403 or 404 */           \
    DEED(LOSE_CALL, "lose-call")       /* a single request or its answer is lost */      \
    DEED(LOSE_SECRET, "lose-secret")   /* somebody deletes the Secret */                 \
    DEED(SPOIL_SECRET, "spoil-secret") /* somebody writes nonsense into it */            \
    DEED(SPOIL_BUNDLE, "spoil-bundle") /* somebody overwrites a CA bundle */             \
    DEED(FREEZE, "freeze")             /* a replica stands still */                      \
    DEED(STARVE, "starve")             /* a thread waits for a processor */              \
    DEED(PREEMPT, "preempt")           /* a thread is interrupted before a lock */       \
    DEED(JUMP, "jump")                 /* the wall clock of a replica jumps */           \
    DEED(POLICY, "policy")             /* the policy is replaced */                      \
    DEED(TORN_FILE, "torn-file")       /* a file is written in part: the disk is full */ \
    DEED(DISK_ERROR, "disk-error")     /* reading fails, for a while */                  \
    DEED(FULL_OUTPUT, "full-output")   /* standard output takes nothing */               \
    DEED(CERTIFICATE, "certificate")   /* the certificate's files are replaced */        \
    DEED(NO_MEMORY, "no-memory")       /* allocations fail, for a while */               \
    DEED(REVIEW, "review")             /* a client comes with reviews */                 \
    DEED(CROWD, "crowd")               /* many clients come, some of them slow */        \
    DEED(KILL, "kill")                 /* a replica is killed, and started again */      \
    DEED(STOP, "stop")                 /* a replica is asked to stop */                  \
    DEED(HANG_UP, "hang-up")           /* a replica is asked to reload */

enum deed {
#define DEED(name, word) DEED_##name,
    DEEDS(DEED)
#undef DEED
        DEED_COUNT
};
extern const char *const deed_names[DEED_COUNT];

/* One deed: the number-th that was due of its sort. */
struct done_deed {
    int64_t at_us;
    enum deed deed;
    uint32_t number;
};

/* What the deeds of a run may be. */
struct chance_plan {
    uint64_t seed;
    bool without[DEED_COUNT]; /* sorts that do not happen */
    /* Only these happen, of all sorts; NULL: any. */
    const struct done_deed *only;
    size_t only_count;
};

/* Notes what happens in deeds, which has room for so many. */
enum { DONE_MAX = 1 << 17 };
void chance_begin(const struct chance_plan *with, struct done_deed *deeds, size_t *count);
/* Whether the deed happens now. */
bool chance_of(enum deed deed, uint32_t in_million);
/* From now on only friendly things happen: changes and reviews. */
void chance_calm(bool calm);
bool chance_is_calm(void);
/* A number for the deed that happens now. Deeds of other sorts do not change it. */
uint64_t chance_of_deed(enum deed deed, uint64_t below);
/* A number for what happens in any case. */
uint64_t chance_draw(uint64_t below);
/* From 1 up, mostly small. */
int64_t chance_long_tail(int64_t most);

/* How many, of each sort. */
extern uint64_t chance_counts[DEED_COUNT];

#endif
