import type { z } from "zod";
import type { FaultCode } from "#core/fault.ts";
import type { ForgeFinding } from "../forge.ts";
import { ok, unknown, wrong } from "./finding.ts";
import type { App, Delivery, Installation, Repository, WebhookConfig } from "./github-answers.ts";
import { webhookFindings } from "./webhook-findings.ts";

/** The result of a check. */
export type Seen<What> =
  | { readonly state: "seen"; readonly what: What }
  | { readonly state: "refused"; readonly code: FaultCode; readonly said: string }
  /** Not checked, because an earlier request was refused. */
  | { readonly state: "not asked" };

/** All results of the checks. */
export interface SetUpSeen {
  readonly api: string;
  readonly appId: string;
  /** The difference between this machine's clock and GitHub's; undefined when GitHub could not be reached. */
  readonly aheadMs: number | undefined;
  readonly app: Seen<z.infer<typeof App>>;
  readonly webhook: Seen<z.infer<typeof WebhookConfig>>;
  /** The newest first. */
  readonly deliveries: Seen<readonly Delivery[]>;
  readonly slug: string | undefined;
  readonly installation: Seen<z.infer<typeof Installation>>;
  readonly repository: Seen<z.infer<typeof Repository>>;
}

/** The purpose of each permission; without the permission, only that function fails. */
const neededPermissions: readonly (readonly [
  name: string,
  level: "read" | "write",
  why: string,
])[] = [
  ["metadata", "read", "to see the repository and its permissions"],
  ["contents", "read", "to fetch commits, and to receive pushes"],
  ["issues", "read", "to receive comments"],
  ["pull_requests", "write", "to read pull requests and to comment and label there"],
  ["checks", "write", "to report check runs"],
];

const neededEvents = ["push", "pull_request", "issue_comment"] as const;

/**
 * GitHub refuses tokens whose issue time is a minute before its own time, or whose expiry is more than ten minutes
 * after it.
 */
const clockMayDifferMs = 60_000;

const levels: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };

/** Returns, for each part of a set-up, whether it is correct, with advice if not. */
export function findingsOf(seen: SetUpSeen): ForgeFinding[] {
  return [
    reachable(seen),
    clock(seen),
    app(seen),
    ...installation(seen),
    ...granted(seen),
    ...webhookFindings(seen),
  ];
}

function reachable({ api, aheadMs }: SetUpSeen): ForgeFinding {
  return aheadMs === undefined
    ? wrong(
        "GitHub's API",
        `${api} does not answer: check its address and the way there (proxy, DNS, firewall)`,
      )
    : ok("GitHub's API", `${api} answers`);
}

function clock({ aheadMs }: SetUpSeen): ForgeFinding {
  if (aheadMs === undefined) return unknown("clock", "GitHub's time could not be read");
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  if (Math.abs(aheadMs) <= clockMayDifferMs)
    return ok("clock", `differs by ${seconds} s from GitHub's`);
  return wrong(
    "clock",
    `this machine is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} GitHub, which then refuses our tokens: synchronise the machine's time (chrony, systemd-timesyncd)`,
  );
}

function app({ app, appId }: SetUpSeen): ForgeFinding {
  switch (app.state) {
    case "seen":
      return ok(
        "app",
        `GitHub knows app ${appId} as ${app.what.slug}, and the key belongs to this app`,
      );
    case "not asked":
      return unknown("app", "not asked");
    case "refused":
      if (app.code === "not_found")
        return wrong(
          "app",
          `GitHub knows no app ${appId}: copy the id from the top of the app's settings`,
        );
      if (app.code === "permission_denied")
        return wrong(
          "app",
          `the private key is not one of app ${appId} (or the clock is wrong): make a new key in the app's settings and use its file. ${app.said}`,
        );
      return unknown("app", app.said);
  }
}

function installation({ installation, repository, slug }: SetUpSeen): ForgeFinding[] {
  const what = "installation";
  if (slug === undefined) return [];
  switch (installation.state) {
    case "not asked":
      return [unknown(what, "not checked: GitHub does not accept the app's token")];
    case "refused":
      return [
        installation.code === "not_found"
          ? wrong(
              what,
              `the app is not installed at ${slug}, or there is no such repository: "Install App" on the app's page, and choose it there`,
            )
          : unknown(what, installation.said),
      ];
    case "seen":
      if (installation.what.suspended_at)
        return [
          wrong(
            what,
            `the app's installation at ${slug} is suspended: its owner can lift that in the settings of the account, "GitHub Apps"`,
          ),
        ];
      return [
        ok(what, `the app is installed at ${slug}`),
        repository.state === "refused"
          ? wrong("repository", `${slug} cannot be read: ${repository.said}`)
          : ok("repository", `${slug} can be read`),
      ];
  }
}

/** Returns the permissions of the installation; without a repository, those that the app requests. */
function granted({ app, installation }: SetUpSeen): ForgeFinding[] {
  const from = installation.state === "seen" ? installation : app;
  if (from.state !== "seen" || app.state !== "seen") return [];
  const { permissions, events } = from.what;
  return [
    ...neededPermissions.map(([name, level, why]) => {
      const what = `permission ${name}`;
      const has = permissions[name];
      if ((levels[has ?? ""] ?? 0) >= (levels[level] ?? 0)) return ok(what, `${has}, ${why}`);
      const asks = (levels[app.what.permissions[name] ?? ""] ?? 0) >= (levels[level] ?? 0);
      return wrong(
        what,
        `${has ?? "not granted"}, but ${level} is needed ${why}: ${
          asks
            ? 'the app requests it, but the account has not accepted it yet: accept it in the account\'s settings, "GitHub Apps", "Review request"'
            : 'set it in the app\'s settings, "Permissions & events", and accept it where the app is installed'
        }`,
      );
    }),
    ...neededEvents.map((name) => {
      const what = `event ${name}`;
      return events.includes(name)
        ? ok(what, "subscribed")
        : wrong(what, `not subscribed: tick it in the app's settings, "Permissions & events"`);
    }),
  ];
}
