import { recordAudit } from "#access/audit.store.ts";
import type { repositoryEndpoints } from "#api/endpoints/repository-endpoints.ts";
import type { RepositorySettings } from "#api/repository-settings.ts";
import type { Tx } from "#db/db.ts";
import { requireRepository } from "#graphs/catalogs/known-repository.store.ts";
import {
  projectOfRepository,
  setProjectOfRepository,
} from "#graphs/project-of-repository.store.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import type { HandlerServices } from "./handler-services.ts";

export function repositoryHandlers({
  db,
}: HandlerServices): HandlersFor<typeof repositoryEndpoints> {
  return {
    repositorySettings: ({ params: { repository } }) => settingsOf(db, repository),
    setRepository: ({ params, body: { project }, caller }) =>
      db.transaction(async (tx) => {
        const repository = await requireRepository(tx, params.repository);
        if (project !== undefined) {
          const before = await setProjectOfRepository(tx, repository, project);
          const detail = { what: "set project", repository, project, before };
          await recordAudit(tx, { actor: caller.name, verb: "administer", detail });
        }
        return settingsOf(tx, repository);
      }),
  };
}

async function settingsOf(tx: Tx, repository: string): Promise<RepositorySettings> {
  return { repository, project: await projectOfRepository(tx, repository) };
}
