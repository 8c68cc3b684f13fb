import type { WebhookTaker } from "../forge/webhook-taker.ts";
import type { BrowserSignIn } from "../sign-in/browser-sign-in.ts";
import type { MetricFamily } from "./metrics-text.ts";
import type { CallerIdentifier } from "./principal.ts";

/**
 * The parts of the farm that routes outside of the table of endpoints need: callers, sign-in, webhooks of forges,
 * metrics.
 */
export interface Farm extends CallerIdentifier, WebhookTaker, BrowserSignIn {
  /** For scrapers. */
  metricFamilies(): Promise<MetricFamily[]>;
}
