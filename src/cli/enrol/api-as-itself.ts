import { join } from "node:path";
import { type ApiClient, apiClient } from "../api/api-client.ts";
import type { CommonOptions, Session } from "../session.ts";
import { ownToken } from "./own-token.ts";

/** Returns the API client of a collector: with the given token, or with its own token if it has or gets one. */
export async function apiAsItself(
  { api, config }: Session,
  { tokenFile, enrol }: CommonOptions & { readonly enrol?: string },
  { name, dataDir }: { readonly name: string; readonly dataDir: string },
): Promise<ApiClient> {
  if (tokenFile !== undefined || config.token !== undefined) return api;
  const token = await ownToken({
    kind: "collector",
    server: api.serverUrl,
    ca: config.ca,
    enrol: enrol ?? config.enrol,
    file: join(dataDir, "enrolled", `${name}.json`),
  });
  return token === undefined ? api : apiClient(api.serverUrl, { token, ca: config.ca });
}
