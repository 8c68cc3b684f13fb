import { randomBytes } from "node:crypto";
import type { FakeGitHub } from "../support/fake-github/fake-github.ts";
import { startFakeGitHub } from "../support/fake-github/start-fake-github.ts";
import { appOfAForge } from "./app-of-a-forge.ts";
import { type HostileFarm, startHostileFarm } from "./hostile-farm.ts";
import { shared } from "./shared-target.ts";

/**
 * An open farm, like one on a developer's machine: the attacker may do everything that is allowed.
 *
 * It is an app at a fake GitHub, which sends webhooks to it.
 */
export interface OpenFarm extends HostileFarm {
  readonly github: FakeGitHub;
}

export const openFarm = shared(async (full): Promise<OpenFarm> => {
  const github = await startFakeGitHub();
  const secret = randomBytes(32).toString("hex");
  const app = await appOfAForge({
    id: github.appId,
    privateKey: github.privateKey,
    api: github.url,
    secret,
  });
  const farm = await startHostileFarm({ full, env: app.env });
  github.sendWebhooksTo(`${farm.url}/forge/github/webhooks`, secret);
  return {
    ...farm,
    github,
    async stop() {
      await farm.stop();
      await github.stop();
      await app.remove();
    },
  };
});
