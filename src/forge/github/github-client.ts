import { createAppAuth } from "@octokit/auth-app";
import { Octokit } from "@octokit/core";
import { retry } from "@octokit/plugin-retry";
import { throttling } from "@octokit/plugin-throttling";
import { Fault } from "#core/fault.ts";
import { type RecentlyUsed, recentlyUsed } from "#core/recently-used.ts";
import type { Service } from "#core/service.ts";
import { guardedFetch } from "#outgoing/guarded-fetch.ts";
import { ForgeBusy } from "../forge-busy.ts";
import { cuttableFetch } from "./cuttable-fetch.ts";
import { App, Installation } from "./github-answers.ts";
import { type GitHubAsker, githubAsker, type KnownAnswer } from "./github-asker.ts";
import type { FullGitHubConfig } from "./github-config.ts";
import { githubFault, isUnknownToken } from "./github-fault.ts";
import { pacedByKey } from "./paced.ts";

interface AppIdentity {
  /** The app's number: the configuration may have its client id instead. */
  readonly id: string;
  /** The user under which its comments appear. */
  readonly bot: string;
}

/** The client for GitHub: as the app itself, and as its installation for a repository. */
export interface GitHubClient extends Service {
  /** For the calls of the app itself: about itself, its webhook, and its installations. */
  readonly app: GitHubAsker;
  /** Returns the app's identity at GitHub; cached for a long time. */
  identity(): Promise<AppIdentity>;
  /** Returns GitHub's time, from any response; undefined without a response. */
  dateThere(): Promise<Date | undefined>;
  /** Runs a function with the app's rights in that repository. */
  within<Answer>(slug: string, doing: (as: GitHubAsker) => Promise<Answer>): Promise<Answer>;
}

/** `owner/name`: the names that GitHub allows. */
const Slug = /^([A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:_[A-Za-z0-9]+)?)\/([A-Za-z0-9._-]{1,100})$/;

export function placeOf(slug: string): { readonly owner: string; readonly repo: string } {
  const [, owner, repo] = Slug.exec(slug) ?? [];
  if (owner === undefined || repo === undefined || repo === "." || repo === "..")
    throw new Fault(
      "invalid_argument",
      `${JSON.stringify(slug.slice(0, 200))} is not a repository of GitHub: its form is OWNER/NAME`,
    );
  return { owner, repo };
}

const PacedOctokit = Octokit.plugin(retry, throttling);

/** How long the identity and the installations are cached. A refused token ends the latter at once. */
const installationMs = 600_000;

/** The waiting time of twenty comments; a renewed lease lasts equally long. */
const longestTurnMs = 60_000;

export function githubClient(config: FullGitHubConfig): GitHubClient {
  const cuttable = cuttableFetch(
    config.timeoutMs,
    // A redirect may name any other host.
    guardedFetch(() => [new URL(config.api).hostname]),
  );
  const { pace } = config;
  const paces = {
    global: pacedByKey(pace.concurrent, 0, cuttable.wait),
    auth: pacedByKey(1, 0, cuttable.wait),
    search: pacedByKey(1, 2_000, cuttable.wait),
    write: pacedByKey(1, pace.writeMs, cuttable.wait, longestTurnMs),
    notifications: pacedByKey(1, pace.notifyMs, cuttable.wait, longestTurnMs),
  };
  // Answers count by their size; 20,000 branches, pull requests and so on are some megabytes, except for the longest
  // comments.
  const answers: RecentlyUsed<KnownAnswer> = recentlyUsed(20_000, (one) => one.weight);

  const speaker = (id: string, installationId?: number): GitHubAsker => {
    let heldUntil = 0;
    const hold = (ms: number) => {
      heldUntil = Math.max(heldUntil, performance.now() + ms);
    };
    const isLimited = (seconds: number, _options: unknown, _octokit: unknown, tries: number) => {
      hold(seconds * 1_000);
      return tries < 2 && seconds * 1_000 <= config.waitLimitMs;
    };
    const octokit = new PacedOctokit({
      baseUrl: config.api,
      userAgent: "grange",
      authStrategy: createAppAuth,
      auth: {
        appId: config.appId,
        privateKey: config.privateKey,
        ...(installationId === undefined ? {} : { installationId }),
      },
      request: { fetch: cuttable.fetch },
      log: { debug() {}, info() {}, warn: config.warn, error: config.warn },
      retry: { retryAfterBaseValue: config.readAgainMs },
      throttle: {
        id,
        ...(paces as object),
        onRateLimit: isLimited,
        onSecondaryRateLimit: isLimited,
      },
    });
    return githubAsker({
      octokit,
      api: config.api,
      answers,
      answersOf: id,
      now: config.now,
      hold,
      async mayAsk(doing) {
        // Further requests under a limit would extend it, so all wait or are retried later.
        const left = heldUntil - performance.now();
        if (left <= 0) return;
        if (left > config.waitLimitMs)
          throw new ForgeBusy(`${doing}: GitHub asked for fewer requests`, Math.ceil(left));
        await cuttable.wait(left);
      },
    });
  };

  const app = speaker(`app ${config.appId}`);
  const speakers = new Map<number, GitHubAsker>();
  const installed = new Map<string, { readonly id: number; readonly until: number }>();

  const installationOf = async (slug: string): Promise<number> => {
    const known = installed.get(slug);
    if (known !== undefined && known.until > performance.now()) return known.id;
    const { id } = await app
      .get(Installation, "GET /repos/{owner}/{repo}/installation", placeOf(slug))
      .catch((reason: unknown) => {
        if (!(reason instanceof Fault && reason.code === "not_found")) throw reason;
        throw new Fault(
          "not_found",
          `the GitHub app is not installed at ${slug}, or there is no such repository: install it there (the app's page, "Install App")`,
          { cause: reason },
        );
      });
    installed.set(slug, { id, until: performance.now() + installationMs });
    return id;
  };

  const once = async <Answer>(slug: string, doing: (as: GitHubAsker) => Promise<Answer>) => {
    const id = await installationOf(slug);
    let as = speakers.get(id);
    if (as === undefined) {
      as = speaker(`installation ${id}`, id);
      speakers.set(id, as);
    }
    return doing(as);
  };

  let identity: { readonly known: Promise<AppIdentity>; readonly until: number } | undefined;

  return {
    app,
    identity() {
      if (identity === undefined || identity.until <= performance.now()) {
        const known = app
          .get(App, "GET /app")
          .then((one) => ({ id: one.id, bot: `${one.slug}[bot]` }));
        identity = { known, until: performance.now() + installationMs };
        known.catch(() => {
          identity = undefined;
        });
      }
      return identity.known;
    },
    async dateThere() {
      try {
        // Needs no token, which a wrong clock would make invalid.
        const { headers } = await cuttable.fetch(`${config.api}/meta`);
        const date = new Date(headers.get("date") ?? Number.NaN);
        return Number.isNaN(date.getTime()) ? undefined : date;
      } catch {
        return undefined;
      }
    },
    async within(slug, doing) {
      try {
        return await once(slug, doing);
      } catch (reason) {
        // GitHub no longer knows the token: the app was installed again, or its token was revoked. Nothing was done, so
        // a retry cannot do it twice.
        const cause = reason instanceof Fault ? reason.cause : reason;
        if (!isUnknownToken(cause)) throw githubFault(reason, slug, config.now());
        const id = installed.get(slug)?.id;
        installed.delete(slug);
        if (id !== undefined) speakers.delete(id);
        return once(slug, doing);
      }
    },
    stop: () => cuttable.stop(),
  };
}
