/* An example of each command, for --help and the manual. */
#include <string.h>

#include "cli/cli.h"

static const struct {
    const char *command, *lines;
} examples[] = {
    {"serve", "  # try it on this machine, with a cluster of files\n"
              "  taffrail serve -p policy.yaml --state cluster --listen 127.0.0.1:8443\n"},
    {"check", "  # before a push; exit code 1 says that something is denied\n"
              "  taffrail check -p policy.yaml -f manifests\n"
              "  # what a chart makes\n"
              "  helm template . | taffrail check -p policy.yaml -f -\n"},
    {"test", "  # each folder holds a cases.yaml\n"
             "  taffrail test policies/tests\n"},
    {"plan", "  # what is pending in the cluster of your kubeconfig, as a page\n"
             "  taffrail plan -o html > plan.html\n"
             "  # what this change would cost, in a cluster of files\n"
             "  taffrail plan --state cluster -f web.yaml\n"
             "  # what would become of it without a zone, and with a larger Deployment\n"
             "  taffrail plan --without-zone eu-west-1a --scale deployment/web=40\n"},
    {"impact", "  # before a NodePool is changed, in a cluster of files\n"
               "  taffrail impact -f nodepool.yaml --state cluster\n"
               "  # what its deletion would do, in the cluster of your kubeconfig\n"
               "  taffrail impact -f nodepool.yaml --delete --context prod\n"},
    {"why", "  # a pod that is pending in the cluster of your kubeconfig\n"
            "  taffrail why pod shop/web-7d4f9-x2x\n"
            "  # for a program\n"
            "  taffrail why pod web-0 --state cluster -o json\n"},
    {"audit", "  # the cluster of your kubeconfig\n"
              "  taffrail audit -p policy.yaml\n"
              "  # a page to send to others\n"
              "  taffrail audit -p policy.yaml --fail-on never -o html > audit.html\n"},
    {"explain", "  # every rail in a line\n"
                "  taffrail explain\n"
                "  # one of them\n"
                "  taffrail explain topology-keys\n"},
    {"schema", "  # for an editor\n"
               "  taffrail schema > taffrail.schema.json\n"},
    {"convert", "  # a Provisioner as the NodePool to write instead\n"
                "  taffrail convert -f provisioner.yaml > nodepool.yaml\n"},
    {"catalog", "  # one type, and what it leaves to pods\n"
                "  taffrail catalog show m5.large\n"
                "  # those that meet all of these\n"
                "  taffrail catalog filter family=m5 'cpu>7'\n"},
    {"render", "  # with your policy and your image\n"
               "  taffrail render --image registry.example.com/taffrail:1.0.0 -p policy.yaml |\n"
               "    kubectl apply -f -\n"},
    {"certs", "  # a CA and a certificate for a webhook in the namespace guard\n"
              "  taffrail certs make certs --dns taffrail.guard.svc\n"},
    {"replay", "  # what a new policy would have said to what really came\n"
               "  taffrail replay audit.log -p new.yaml\n"},
    {"completion", "  # bash, in ~/.bashrc\n"
                   "  source <(taffrail completion bash)\n"
                   "  # zsh, in ~/.zshrc, after compinit\n"
                   "  source <(taffrail completion zsh)\n"
                   "  # fish\n"
                   "  taffrail completion fish > ~/.config/fish/completions/taffrail.fish\n"},
    {"version", "  taffrail version\n"},
    {"policy", "  # what holds for this object, and from which file and line\n"
               "  taffrail policy explain -p policies -f web.yaml\n"},
};

const char *help_examples(const char *command)
{
    for (size_t i = 0; i < COUNT_OF(examples); i++)
        if (strcmp(examples[i].command, command) == 0)
            return examples[i].lines;
    return "";
}
