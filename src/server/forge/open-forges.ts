import type { Logger } from "pino";
import type { Service } from "#core/service.ts";
import type { Forges } from "#forge/forge-services.ts";
import { openGitForge } from "#forge/git/open-git-forge.ts";
import { openGitHub } from "#forge/github/open-github.ts";
import type { Git } from "#git/run-git.ts";
import { type GitHubAppConfig, readSecretFile, readWebhookSecrets } from "./config.ts";
import type { Ways } from "./ways.ts";

/** The forges that this farm speaks with. */
export interface OpenForges extends Service {
  readonly forges: Forges;
  readonly ways: Ways;
  /** By which webhooks are known to be GitHub's; none where none are taken. */
  readonly webhookSecrets: readonly string[];
}

export async function openForges(
  config: GitHubAppConfig | undefined,
  { git, logger, ways }: { readonly git: Git; readonly logger: Logger; readonly ways: Ways },
): Promise<OpenForges> {
  const plain = openGitForge({
    git,
    workingDirectory: process.cwd(),
    wayInto: (slug) => ways.open(slug),
  });
  if (config === undefined) {
    return { forges: { git: plain }, ways, webhookSecrets: [], stop: async () => {} };
  }
  const github = openGitHub({
    appId: config.appId,
    privateKey: await readSecretFile(config.keyFile),
    ...(config.api === undefined ? {} : { api: config.api }),
    ...(config.paceMs === undefined
      ? {}
      : { pace: { writeMs: config.paceMs, notifyMs: config.paceMs } }),
    warn: (message) => logger.warn({ forge: "github" }, message),
  });
  return {
    forges: { git: plain, github },
    ways,
    webhookSecrets: await readWebhookSecrets(config),
    stop: () => github.stop(),
  };
}
