import { z } from "zod";
import { RemoveSecret, Secret, type SetSecret } from "#api/secret.ts";
import type { ApiClient } from "./api-client.ts";

export function secretCalls({ get, post }: Pick<ApiClient, "get" | "post">) {
  return {
    list: () => get(z.array(Secret), "/secrets"),
    set: (request: z.input<typeof SetSecret>) => post(Secret, "/secrets", request),
    remove: (at: RemoveSecret) => post(z.object({ removed: RemoveSecret }), "/secrets/remove", at),
  };
}
