import type { BrowserSignIn } from "../sign-in/browser-sign-in.ts";
import type { ForgeFarm } from "./forge-farm.ts";
import type { MetricFamily } from "./metrics-text.ts";
import type { KnowsCallers } from "./principal.ts";

/**
 * What the HTTP API offers, in the words of the farm.
 *
 * Reads answer undefined when there is no such thing. Bound to the services in
 * `assemble.ts`; the routes know nothing behind it.
 */
export interface Farm extends KnowsCallers, ForgeFarm, BrowserSignIn {
  /** For scrapers. */
  metricFamilies(): Promise<MetricFamily[]>;
}
