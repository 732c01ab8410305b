/* What came of a run, in memory that its process shares with the one that started it. */
#ifndef TAFFRAIL_DETERMINISTIC_OUTCOME_H
#define TAFFRAIL_DETERMINISTIC_OUTCOME_H

#include "answers.h"
#include "chance.h"

struct outcome {
    uint64_t sort; /* of the failure; 0: none */
    char problem[1500];
    int64_t at_us; /* when it failed */
    uint64_t events, turns, trace;
    uint64_t deeds[DEED_COUNT];
    struct answer_counts answers;
    struct door_counts doors;
    uint64_t lives, kills, writes;
    size_t done_count;
    struct done_deed done[DONE_MAX];
};
extern struct outcome *outcome_of_run;

struct run {
    struct chance_plan chance;
    unsigned rounds;
    int64_t until_us; /* it ends then; 0: after the rounds */
    bool speaks;
};
/* Notes what happened so far. */
void run_note(void);
/* Runs it in a process of its own. Returns the process. */
int run_begin(const struct run *run, struct outcome *outcome);
/* The process has ended, as waitpid says. */
void run_end(int status, struct outcome *outcome);

/* Finds few deeds that are enough for the same failure, and prints them. */
void shrink(const struct run *run, const struct outcome *failed);

#endif
