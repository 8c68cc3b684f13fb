import type { Octokit } from "@octokit/core";
import { z } from "zod";
import { Fault } from "#core/fault.ts";
import type { RecentlyUsed } from "#core/recently-used.ts";
import { ForgeBusy } from "../forge-busy.ts";
import { githubFault } from "./github-fault.ts";
import { nextPage } from "./next-page.ts";

/** A cached answer that GitHub may confirm as unmodified, which does not count against the limits. */
export interface KnownAnswer {
  readonly etag: string;
  /** Only its parsed part, because a whole page of pull requests has megabytes. */
  readonly read: unknown;
  readonly next: string | undefined;
  readonly weight: number;
}

type Parameters = Readonly<Record<string, unknown>>;

/** Sends requests to GitHub, and parses the answers by schemas. */
export interface GitHubAsker {
  get<Answer>(schema: z.ZodType<Answer>, route: string, parameters?: Parameters): Promise<Answer>;
  /** Reads page after page while there are more pages and `goesOn` returns true. */
  list<Item>(
    schema: z.ZodType<Item>,
    route: string,
    parameters?: Parameters,
    options?: ListOptions<Item>,
  ): Promise<Item[]>;
  /** Never retried here, unless GitHub reported that it did nothing. */
  write<Answer>(schema: z.ZodType<Answer>, route: string, parameters: Parameters): Promise<Answer>;
  graphql<Answer>(schema: z.ZodType<Answer>, query: string, variables: Parameters): Promise<Answer>;
  /** Returns a token that allows only reading that repository, for an hour. */
  readingToken(repository: string): Promise<string>;
}

const Token = z.object({ token: z.string().regex(/^[A-Za-z0-9_.-]+$/) });

interface ListOptions<Item> {
  /** The key of the items in the answer, when the answer is not itself the list. */
  readonly under?: string;
  readonly goesOn?: (page: readonly Item[]) => boolean;
}

interface AskerParts {
  readonly octokit: Octokit;
  readonly api: string;
  readonly answers: RecentlyUsed<KnownAnswer>;
  /** The identity for which answers are cached, because other identities may get other answers. */
  readonly answersOf: string;
  now(): Date;
  hold(ms: number): void;
  mayAsk(doing: string): Promise<void>;
}

/** The number of retries of reads after a 5xx or an interruption. */
const readsAgain = 2;
/** GitHub's longest page. */
export const perPage = 100;
/** 100,000 objects of one kind: more than any repository has. */
const mostPages = 1_000;

export function githubAsker(parts: AskerParts): GitHubAsker {
  const { octokit, answers } = parts;

  const ask = async <Answer>(doing: string, asking: () => Promise<Answer>): Promise<Answer> => {
    await parts.mayAsk(doing);
    try {
      return await asking();
    } catch (reason) {
      const fault = githubFault(reason, doing, parts.now());
      if (
        !(reason instanceof Fault) &&
        fault instanceof ForgeBusy &&
        fault.retryAfterMs !== undefined
      )
        parts.hold(fault.retryAfterMs);
      throw fault;
    }
  };

  const read = <What>(
    schema: z.ZodType<What>,
    route: string,
    parameters: Parameters,
    under?: string,
  ): Promise<KnownAnswer & { readonly read: What }> =>
    ask(routeText(route, parameters), async () => {
      // A route is always read by the same schema.
      const key = JSON.stringify([parts.answersOf, route, parameters]);
      const known = answers.peek(key);
      try {
        const { data, headers } = await octokit.request(route, {
          ...parameters,
          request: { retries: readsAgain },
          headers: known === undefined ? {} : { "if-none-match": known.etag },
        });
        const next = nextPage(headers.link, parts.api);
        const found = under === undefined ? data : fieldOf(data, under);
        const what = parsed(schema, found, routeText(route, parameters));
        const weight = Array.isArray(what) ? what.length + 1 : 1;
        const answer = { etag: headers.etag ?? "", read: what, next, weight };
        if (headers.etag !== undefined) answers.set(key, answer);
        return answer;
      } catch (reason) {
        if (known === undefined || (reason as { status?: unknown }).status !== 304) throw reason;
        return { ...known, read: known.read as What };
      }
    });

  return {
    async get(schema, route, parameters = {}) {
      return (await read(schema, route, parameters)).read;
    },
    async list(schema, route, parameters = {}, options = {}) {
      const all: z.infer<typeof schema>[] = [];
      const doing = routeText(route, parameters);
      let at: readonly [string, Parameters] = [route, { per_page: perPage, ...parameters }];
      const seen = new Set<string>();
      for (let count = 1; count <= mostPages; count++) {
        const page = await read(z.array(schema), ...at, options.under);
        all.push(...page.read);
        if (page.next === undefined || options.goesOn?.(page.read) === false) return all;
        if (seen.has(page.next)) break;
        seen.add(page.next);
        at = [`GET ${page.next}`, {}];
      }
      throw new Fault(
        "resource_exhausted",
        `${doing}: the answer has more than ${mostPages} pages, or its pages form a cycle`,
      );
    },
    async write(schema, route, parameters) {
      const doing = routeText(route, parameters);
      const { data } = await ask(doing, () =>
        octokit.request(route, { ...parameters, request: { retries: 0 } }),
      );
      return parsed(schema, data, doing);
    },
    async graphql(schema, query, variables) {
      const doing = query.trim().split(/[({\n]/, 1)[0] ?? "a query";
      const data = await ask(doing, () =>
        octokit.graphql(query, { ...variables, request: { retries: 0 } }),
      );
      return parsed(schema, data, doing);
    },
    async readingToken(repository) {
      const doing = `a token to read ${repository}`;
      const made = await ask(doing, () =>
        octokit.auth({
          type: "installation",
          repositoryNames: [repository],
          permissions: { contents: "read", metadata: "read" },
        }),
      );
      return parsed(Token, made, doing).token;
    },
  };
}

function fieldOf(data: unknown, name: string): unknown {
  return typeof data === "object" && data !== null
    ? (data as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function parsed<Answer>(schema: z.ZodType<Answer>, data: unknown, doing: string): Answer {
  const read = schema.safeParse(data);
  if (read.success) return read.data;
  // A proxy's page in place of GitHub's answer is temporary; a write may have succeeded.
  throw new ForgeBusy(
    `${doing}: GitHub's response has an unknown form: ${z.prettifyError(read.error).slice(0, 500)}`,
  );
}

/** Returns the route with its placeholders filled, for messages. */
function routeText(route: string, parameters: Parameters): string {
  return route.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) =>
    placeText(parameters[name]).slice(0, 100),
  );
}

const placeText = (value: unknown) =>
  typeof value === "string" || typeof value === "number" ? String(value) : "?";
