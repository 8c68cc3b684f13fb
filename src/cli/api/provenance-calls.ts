import { Provenance } from "#api/provenance.ts";
import type { ApiClient } from "./api-client.ts";

export function provenanceCalls({ get }: Pick<ApiClient, "get">) {
  return {
    of: (digest: string) => get(Provenance, `/provenance?digest=${encodeURIComponent(digest)}`),
  };
}
