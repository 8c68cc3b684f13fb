import type { Service } from "#core/service.ts";
import type { Forge } from "../forge.ts";
import { examineGitHub } from "./examine-github.ts";
import { githubClient } from "./github-client.ts";
import { fullConfig, type GitHubConfig } from "./github-config.ts";
import { readRepository } from "./read-repository.ts";
import { redeliveries } from "./redeliveries.ts";
import { takeWebhooks } from "./take-webhooks.ts";
import { comments, labels } from "./talk-on-pulls.ts";
import { writeChecks } from "./write-checks.ts";

/** It has all capabilities. */
export type GitHub = Required<Forge> &
  Service & { readonly webhooks: Required<Required<Forge>["webhooks"]> };

/** GitHub, or a GitHub Enterprise Server, accessed as an app. */
export function openGitHub(given: GitHubConfig): GitHub {
  const config = fullConfig(given);
  const client = githubClient(config);
  return {
    kind: "github",
    // GitHub ignores case, and webhooks contain the owner's spelling of a repository.
    storedSlug: (written) => written.toLowerCase(),
    ...readRepository(client),
    comments: comments(client),
    checks: writeChecks(client),
    labels: labels(client),
    webhooks: { ...takeWebhooks(config.webhookSecrets), redeliveries: redeliveries(client) },
    examine: (slug) => examineGitHub(client, config, slug),
    stop: () => client.stop(),
  };
}
