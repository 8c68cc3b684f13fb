import type { ForgeRedeliveries } from "../webhooks/forge-webhooks.ts";
import { Anything, Delivery, forgeDelivery } from "./github-answers.ts";
import type { GitHubClient } from "./github-client.ts";

/** Returns access to GitHub's record of the webhooks that it sent to the app. */
export function redeliveries(client: GitHubClient): ForgeRedeliveries {
  return {
    keptMs: 3 * 24 * 60 * 60_000,

    async list(since) {
      const isRecent = (one: Delivery) => one.delivered_at >= since;
      // The newest come first.
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
  };
}
