import type { secretEndpoints } from "#api/endpoints/secret-endpoints.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import type { HandlerServices } from "./handler-services.ts";

export function secretHandlers({ secrets }: HandlerServices): HandlersFor<typeof secretEndpoints> {
  return {
    secrets: ({ caller }) => secrets.list(caller),
    setSecret: ({ body, caller }) => secrets.set(body, caller),
    async removeSecret({ body, caller }) {
      await secrets.remove(body, caller);
      return { removed: body };
    },
  };
}
