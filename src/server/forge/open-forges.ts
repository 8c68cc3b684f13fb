import type { Logger } from "pino";
import type { Service } from "#core/service.ts";
import type { OpenForge } from "#forge/forge-kind.ts";
import { forgeKinds } from "#forge/forge-kinds.ts";
import type { Forges } from "#forge/forge-services.ts";
import type { Git } from "#git/run-git.ts";
import type { RepositoryCredentials } from "./repository-credentials.ts";

/** The forges that this farm communicates with. */
export interface OpenForges extends Service {
  readonly forges: Forges;
  readonly ways: RepositoryCredentials;
}

/** Opens the forges that need no settings, and those that have an entry in `settings` (by kind). */
export async function openForges(
  settings: Readonly<Record<string, unknown>>,
  {
    git,
    logger,
    ways,
  }: { readonly git: Git; readonly logger: Logger; readonly ways: RepositoryCredentials },
): Promise<OpenForges> {
  const forges: OpenForge[] = [];
  for (const kind of forgeKinds) {
    if (kind.settings !== undefined && settings[kind.kind] === undefined) continue;
    const parts = {
      git,
      logger,
      workingDirectory: process.cwd(),
      withCredentials: (slug: string) => ways.open({ kind: kind.kind, slug }),
    };
    forges.push(await kind.open(settings[kind.kind], parts));
  }
  return {
    forges,
    ways,
    async stop() {
      await Promise.all(forges.map(async (forge) => forge.stop?.()));
    },
  };
}
