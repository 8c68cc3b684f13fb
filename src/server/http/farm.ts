import type { WebhookTaker } from "../forge/webhook-taker.ts";
import type { BrowserSignIn } from "../sign-in/browser-sign-in.ts";
import type { MetricFamily } from "./metrics-text.ts";
import type { KnowsCallers } from "./principal.ts";

/** What routes outside of the table of endpoints need: who calls, signing in, webhooks of forges, figures for scrapers. */
export interface Farm extends KnowsCallers, WebhookTaker, BrowserSignIn {
  /** For scrapers. */
  metricFamilies(): Promise<MetricFamily[]>;
}
