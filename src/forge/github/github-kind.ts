import type { ForgeKind } from "../forge-kind.ts";
import { gitHubRepositoryKeys } from "./github-address.ts";
import {
  type GitHubApp,
  gitHubSettings,
  readSecretFile,
  readWebhookSecrets,
} from "./github-settings.ts";

/** GitHub, or a GitHub Enterprise Server, as a GitHub App. A slug is `OWNER/NAME`. */
export const gitHubKind: ForgeKind<GitHubApp> = {
  kind: "github",
  settings: gitHubSettings,

  async open(settings, { logger }) {
    const { openGitHub } = await import("./open-github.ts");
    const { appId, keyFile, api, paceMs } = settings;
    return openGitHub({
      appId,
      privateKey: await readSecretFile(keyFile),
      webhookSecrets: await readWebhookSecrets(settings),
      ...(api === undefined ? {} : { api }),
      ...(paceMs === undefined ? {} : { pace: { writeMs: paceMs, notifyMs: paceMs } }),
      warn: (message) => logger.warn({ forge: "github" }, message),
    });
  },

  repositoryKeys: gitHubRepositoryKeys,
};
