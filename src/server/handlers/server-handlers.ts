import { accessSettingOf } from "#access/access-setting.ts";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import type { serverEndpoints } from "#api/endpoints/server-endpoints.ts";
import { signInEndpoints } from "#api/endpoints/sign-in-endpoints.ts";
import { latestBackups } from "#backup/backup.store.ts";
import { definitionsSchema } from "#definitions/definitions-schema.ts";
import { findObjects } from "../find-objects.ts";
import { openApiDocument } from "../http/openapi-document.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { overviewReader } from "../overview.ts";
import { version } from "../version.ts";
import type { HandlerServices } from "./handler-services.ts";

const mostBackups = 20;

export function serverHandlers(services: HandlerServices): HandlersFor<typeof serverEndpoints> {
  const startedAt = services.clock.now().toISOString();
  const readOverview = overviewReader(services);
  let openApi: Response | undefined;
  return {
    server: async () => ({
      version,
      database: services.databaseDescription,
      startedAt,
      access: accessSettingOf((await services.callers.identify(undefined)).grants),
    }),
    overview: ({ caller, reads }) => readOverview(reads, caller),
    find: ({ query, caller, reads }) => findObjects(reads, caller, query),
    store: () => services.storeStanding(),
    backups: async () =>
      (await latestBackups(services.db, mostBackups)).map(
        ({ startedAt, finishedAt, directory, host, ...counted }) => ({
          directory,
          host,
          startedAt: startedAt.toISOString(),
          finishedAt: finishedAt.toISOString(),
          databaseBytes: counted.databaseBytes,
          blobs: counted.blobs,
          blobBytes: counted.blobBytes,
          copiedBytes: counted.copiedBytes,
          damagedBlobs: counted.damagedBlobs,
        }),
      ),
    // Made once, at the first call: it does not change while the server runs.
    openApi() {
      openApi ??= Response.json(openApiDocument({ ...signInEndpoints, ...allEndpoints }, version));
      return openApi.clone();
    },
    definitionsSchema: () => Response.json(definitionsSchema()),
  };
}
