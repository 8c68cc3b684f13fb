import type { secretEndpoints } from "#api/endpoints/secret-endpoints.ts";
import type { HandlersFor } from "../http/serve-endpoints.ts";
import { checkRegistryLogin } from "../registry-logins.ts";
import type { HandlerServices } from "./handler-services.ts";

export function secretHandlers({
  secrets,
  registryLogins,
}: HandlerServices): HandlersFor<typeof secretEndpoints> {
  return {
    secrets: ({ caller }) => secrets.list(caller),
    async setSecret({ body, caller }) {
      checkRegistryLogin(body);
      const set = await secrets.set(body, caller);
      registryLogins.forget();
      return set;
    },
    async removeSecret({ body, caller }) {
      await secrets.remove(body, caller);
      registryLogins.forget();
      return { removed: body };
    },
  };
}
