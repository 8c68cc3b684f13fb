import { Quarantine, type ReleaseResult } from "#api/granary.ts";
import type { ApiClient } from "./api-client.ts";

export function quarantineCalls({ get, post }: Pick<ApiClient, "get" | "post">) {
  return {
    quarantine: (project: string) =>
      get(Quarantine, `/granary/quarantine?project=${encodeURIComponent(project)}`),
    release: (which: ReleaseResult) => post(Quarantine, "/granary/quarantine/release", which),
    takeMadeFrom: (which: ReleaseResult) =>
      post(Quarantine, "/granary/quarantine/made-from", which),
  };
}
