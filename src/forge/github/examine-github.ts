import { Fault, messageOf } from "#core/fault.ts";
import type { ForgeFinding } from "../forge.ts";
import { App, Delivery, Installation, Repository, WebhookConfig } from "./github-answers.ts";
import { type GitHubClient, placeOf } from "./github-client.ts";
import type { FullGitHubConfig } from "./github-config.ts";
import { findingsOf, type Seen, type SetUpSeen } from "./set-up-findings.ts";

/** Checks all parts of a set-up; a failed step makes later ones impossible. */
export async function examineGitHub(
  client: GitHubClient,
  config: FullGitHubConfig,
  slug: string | undefined,
): Promise<ForgeFinding[]> {
  const aheadMs = await clockAheadMs(client, config);
  const app = await seen(client.app.get(App, "GET /app"));
  const nothing = { state: "not asked" } as const;
  const isKnown = app.state === "seen";
  const found: SetUpSeen = {
    api: config.api,
    appId: config.appId,
    aheadMs,
    app,
    webhook: isKnown ? await seen(client.app.get(WebhookConfig, "GET /app/hook/config")) : nothing,
    deliveries: isKnown
      ? await seen(
          client.app.list(Delivery, "GET /app/hook/deliveries", {}, { goesOn: () => false }),
        )
      : nothing,
    slug,
    installation:
      isKnown && slug !== undefined
        ? await seen(
            client.app.get(Installation, "GET /repos/{owner}/{repo}/installation", placeOf(slug)),
          )
        : nothing,
    repository:
      isKnown && slug !== undefined
        ? await seen(
            client.within(slug, (as) =>
              as.get(Repository, "GET /repos/{owner}/{repo}", placeOf(slug)),
            ),
          )
        : nothing,
  };
  return findingsOf(found);
}

async function seen<What>(asking: Promise<What>): Promise<Seen<What>> {
  try {
    return { state: "seen", what: await asking };
  } catch (reason) {
    const code = reason instanceof Fault ? reason.code : "internal";
    return { state: "refused", code, said: messageOf(reason) };
  }
}

/** Returns how far this machine's clock is ahead of GitHub's, whose answers contain their time. */
async function clockAheadMs(
  client: GitHubClient,
  config: FullGitHubConfig,
): Promise<number | undefined> {
  const before = config.now().getTime();
  const date = await client.dateThere();
  if (date === undefined) return undefined;
  // The header has whole seconds, and the request takes time, so the middle is the best estimate.
  return Math.round((before + config.now().getTime()) / 2 - (date.getTime() + 500));
}
