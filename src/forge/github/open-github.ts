import type { Service } from "#core/service.ts";
import type { Forge } from "../forge.ts";
import { examineGitHub } from "./examine-github.ts";
import { Anything, Delivery, forgeDelivery } from "./github-answers.ts";
import { githubClient } from "./github-client.ts";
import { fullConfig, type GitHubConfig } from "./github-config.ts";
import { readRepository } from "./read-repository.ts";
import { talkOnPulls } from "./talk-on-pulls.ts";
import { writeChecks } from "./write-checks.ts";

/** GitHub, or a GitHub Enterprise Server, spoken to as an app. */
export function openGitHub(given: GitHubConfig): Forge & Service {
  const config = fullConfig(given);
  const client = githubClient(config);
  return {
    kind: "github",
    ...readRepository(client),
    ...talkOnPulls(client),
    ...writeChecks(client),

    async deliveries(since) {
      const isRecent = (one: Delivery) => one.delivered_at >= since;
      // The newest come first, and GitHub keeps three days of them.
      const all = await client.app.list(
        Delivery,
        "GET /app/hook/deliveries",
        {},
        { goesOn: (page) => page.every(isRecent) },
      );
      return all.filter(isRecent).map(forgeDelivery);
    },

    async redeliver(id) {
      await client.app.write(Anything, "POST /app/hook/deliveries/{delivery_id}/attempts", {
        delivery_id: id,
      });
    },

    examine: (slug) => examineGitHub(client, config, slug),
    stop: () => client.stop(),
  };
}
