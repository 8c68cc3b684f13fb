import type { z } from "zod";
import {
  type CommentState,
  type FakeState,
  type PullState,
  type RepositoryState,
  slugOf,
} from "../fake-state.ts";
import type { WebhookSender } from "../webhook-sender.ts";

/** One authenticated request. */
export interface Call {
  readonly state: FakeState;
  readonly webhooks: WebhookSender;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  /**
   * Items that are divided into pages, each made when its page is requested; `under` is the body's field for them, with
   * a count beside it.
   */
  readonly list?: readonly (() => unknown)[];
  readonly under?: string;
  readonly link?: string;
}

export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** In the form of GitHub's description. */
  readonly path: string;
  readonly by: "app" | "installation";
  /** The permission that the installation must have. */
  readonly needs?: readonly [permission: string, level: "read" | "write"];
  handle(call: Call): Reply;
}

/** An error response. */
export class Refusal extends Error {
  readonly status: number;
  readonly more: Readonly<Record<string, unknown>>;

  constructor(status: number, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.status = status;
    this.more = more;
  }
}

export function bodyOf<Body>(schema: z.ZodType<Body>, call: Call): Body {
  const read = schema.safeParse(call.body);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const field = issue?.path.join(".") ?? "";
  throw new Refusal(422, `Invalid request.\n\n${field}: ${issue?.message ?? ""}`, {
    errors: [{ resource: "Body", field, code: "invalid" }],
  });
}

export function repositoryOf(call: Call): RepositoryState {
  const slug = `${call.parameters["owner"]}/${call.parameters["repo"]}`;
  const found = call.state.repositories.get(slug.toLowerCase());
  if (found === undefined || found.isDeleted) throw new Refusal(404, "Not Found");
  return found;
}

export function pullOf(repository: RepositoryState, number: string | undefined): PullState {
  const found = repository.pulls.get(Number(number));
  if (found === undefined) throw new Refusal(404, "Not Found");
  return found;
}

export function commentOf(repository: RepositoryState, id: string | undefined): CommentState {
  const found = repository.comments.get(Number(id));
  if (found === undefined) throw new Refusal(404, "Not Found");
  return found;
}

export { slugOf };
