import { bindForge } from "./bind-forge.ts";
import type { Feeds } from "./handlers/handler-services.ts";
import type { Farm } from "./http/farm.ts";
import { metricFamilies } from "./metric-families.ts";
import type { Services } from "./services.ts";
import { browserSignIn } from "./sign-in/browser-sign-in.ts";

/** Binds what the HTTP API offers to the services of the server. `url` is the farm's own address. */
export function bindFarm(services: Services, feeds: Feeds, url: string): Farm {
  return {
    identify: (authorization, certificateOf) =>
      services.callers.identify(authorization, certificateOf),
    metricFamilies: metricFamilies(services, services.desiredWorkers),
    ...bindForge(services, services.forges),
    ...browserSignIn(services, url),
  };
}
