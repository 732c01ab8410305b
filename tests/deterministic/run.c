/* One run, in a process of its own: it begins with nothing, and may crash. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "director.h"
#include "outcome.h"
#include "replica.h"
#include "singles.h"
#include "threads.h"

struct outcome *outcome_of_run;

void run_note(void)
{
    struct outcome *outcome = outcome_of_run;
    outcome->events = world_events();
    outcome->turns = world_turns();
    outcome->trace = world_trace();
    memcpy(outcome->deeds, chance_counts, sizeof chance_counts);
    outcome->answers = answer_counts;
    outcome->doors = door_counts;
    outcome->lives = replica_lives;
    outcome->kills = replica_kills;
    outcome->writes = singles_writes();
}

static void do_run(const struct run *run, struct outcome *outcome)
{
    outcome_of_run = outcome;
    replica_speaks = run->speaks;
    chance_begin(&run->chance, outcome->done, &outcome->done_count);
    director_run(&(struct director_plan){run->chance.seed, run->rounds, run->until_us});
    run_note();
}

int run_begin(const struct run *run, struct outcome *outcome)
{
    memset(outcome, 0, offsetof(struct outcome, done));
    fflush(NULL);
    int process = fork();
    if (process != 0)
        return process;
    do_run(run, outcome);
    _exit(0);
}

void run_end(int status, struct outcome *outcome)
{
    if (WIFSIGNALED(status)) {
        outcome->sort = 2 * (uint64_t)WTERMSIG(status);
        snprintf(outcome->problem, sizeof outcome->problem, "the program crashed: %s",
                 strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0 && outcome->sort == 0) {
        outcome->sort = 1000;
        snprintf(outcome->problem, sizeof outcome->problem, "the program ended with %d",
                 WEXITSTATUS(status));
    }
    if (outcome->sort != 0 && outcome->at_us == 0 && outcome->done_count > 0)
        outcome->at_us = outcome->done[outcome->done_count - 1].at_us;
}
