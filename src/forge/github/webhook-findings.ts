import type { ForgeFinding } from "../forge.ts";
import { ok, unknown, wrong } from "./finding.ts";
import type { Delivery } from "./github-answers.ts";
import type { SetUpSeen } from "./set-up-findings.ts";

/** Returns findings about whether GitHub sends webhooks here, and about the latest ones. */
export function webhookFindings(seen: SetUpSeen): ForgeFinding[] {
  const latest = deliveries(seen);
  return latest === undefined ? webhook(seen) : [...webhook(seen), latest];
}

function webhook({ webhook }: SetUpSeen): ForgeFinding[] {
  const what = "webhook";
  if (webhook.state === "not asked") return [];
  if (webhook.state === "refused") return [unknown(what, webhook.said)];
  const { url, secret, content_type, insecure_ssl } = webhook.what;
  if (!url)
    return [
      wrong(
        what,
        `no address is set: set it to https://FARM/forge/github/webhooks in the app's settings. Until then all is found by polling only`,
      ),
    ];
  return [
    ok(what, `is sent to ${url}`),
    secret
      ? ok("webhook secret", "is set")
      : wrong(
          "webhook secret",
          "none is set at GitHub, so that the farm refuses every webhook: set the farm's secret in the app's settings",
        ),
    ...(content_type === "json"
      ? []
      : [
          wrong(
            "webhook content type",
            `${content_type ?? "unset"}: choose application/json in the app's settings`,
          ),
        ]),
    ...(url.startsWith("https:") && String(insecure_ssl ?? "0") !== "0"
      ? [
          wrong(
            "webhook TLS",
            "GitHub does not check the farm's certificate: others in the network can read the webhooks",
          ),
        ]
      : []),
  ];
}

function deliveries({ deliveries, webhook }: SetUpSeen): ForgeFinding | undefined {
  const what = "deliveries";
  if (deliveries.state === "not asked") return undefined;
  if (deliveries.state === "refused") return unknown(what, deliveries.said);
  const last = deliveries.what.slice(0, 20);
  const [newest] = last;
  if (newest === undefined)
    return unknown(
      what,
      'GitHub has sent no webhook within the last three days: push something, or "Redeliver" one on the app\'s page',
    );
  const isTaken = (one: Delivery) => one.status_code >= 200 && one.status_code < 300;
  const taken = last.filter(isTaken).length;
  if (isTaken(newest))
    return ok(
      what,
      `of the last ${last.length}, ${taken} were accepted; the others are found by reconciling`,
    );
  const url = webhook.state === "seen" ? (webhook.what.url ?? "its address") : "its address";
  const since = taken === 0 ? `all of the last ${last.length} failed` : "the last one failed";
  const { status_code, status } = newest;
  if (status_code === 401 || status_code === 403)
    return wrong(
      what,
      `${since}: the farm answered ${status_code}, so its webhook secret is not the one that GitHub signs with: give both the same`,
    );
  if (status_code === 404)
    return wrong(
      what,
      `${since} with 404: ${url} is not the farm's URL for webhooks, which ends with /forge/github/webhooks`,
    );
  if (
    status_code === 0 ||
    status_code === 502 ||
    status_code === 504 ||
    /connect|timed out|host/i.test(status)
  )
    return wrong(
      what,
      `${since} (${status_code} ${status}): GitHub cannot reach ${url}, or gets no response within 10 s. Without webhooks the farm finds everything by polling, minutes later`,
    );
  return wrong(
    what,
    `${since}: the farm responded with ${status_code} ${status}; its log contains the reason`,
  );
}
