import { z } from "zod";
import { type AddDrain, Drain, type RemoveDrain } from "#api/drain.ts";
import type { ApiClient } from "./api-client.ts";

export function drainCalls({ get, post }: Pick<ApiClient, "get" | "post">) {
  return {
    drains: () => get(z.array(Drain), "/drains"),
    addDrain: (wanted: AddDrain) => post(z.array(Drain), "/drains", wanted),
    removeDrain: (named: RemoveDrain) => post(z.array(Drain), "/drains/remove", named),
  };
}
