import { webhookTaker } from "./forge/webhook-taker.ts";
import type { Farm } from "./http/farm.ts";
import { metricFamilies } from "./metric-families.ts";
import type { Services } from "./services.ts";
import { browserSignIn } from "./sign-in/browser-sign-in.ts";

/** `url` is the farm's own address. */
export function bindFarm(services: Services, url: string): Farm {
  return {
    identify: (authorization, certificateOf) =>
      services.callers.identify(authorization, certificateOf),
    metricFamilies: metricFamilies(services, services.desiredWorkers),
    ...webhookTaker(services),
    ...browserSignIn(services, url),
  };
}
