import { z } from "zod";
import { CommitId, EnvironmentName } from "#api/granary.ts";
import { Namespace, type ResultKey } from "#commit-index/result-key.ts";
import { OutputPath } from "./result-value.ts";

/** The limit for keys in one message. */
export const mostKeys = 10_000;

const Part = "(?!\\.{1,2}(?:/|$))[A-Za-z0-9._=+-]{1,200}";
/** A build system's own name for a result; usually a digest. */
const Name = z
  .string()
  .regex(
    new RegExp(`^(?!approx/)${Part}(/${Part}){0,2}$`),
    "a key is up to three words of A-Z a-z 0-9 . _ = + -",
  );
/** The name of an approximation, limited so that the key `approx/…` stays short enough. */
const Approx = z
  .string()
  .regex(
    new RegExp(`^${Part}(/${Part})?$`),
    "an approximation is one or two words of A-Z a-z 0-9 . _ = + -",
  );
const Text = z.string().max(1_024);
const Directory = z
  .string()
  .regex(/^\/[^\0]*$/, "an absolute path")
  .max(4_096);
const Milliseconds = z.number().int().nonnegative().max(1_000_000_000);
/** Returned in the answer as `to`. */
/** The id of a build, or the first characters of one. */
const ShortId = z.string().regex(/^[0-9a-f-]{1,36}$/);
const id = z.union([z.string().max(100), z.number()]).optional();

/** A repository that the build uses. The client may state more than its commit; the rest is read from Git. */
const Repository = z.object({
  root: Directory,
  commit: CommitId.optional(),
  dirty: z.boolean().default(false),
  name: z.string().max(200).optional(),
  tree: z.string().max(64).optional(),
  branch: z.string().max(255).optional(),
  /** First parents, the nearest first. */
  parents: z.array(CommitId).max(63).optional(),
  dirtyPaths: z.array(z.string().max(4_096)).max(10_000).optional(),
});
export type Repository = z.infer<typeof Repository>;

const WhatIsBuilt = {
  id,
  /** When undefined, the workspace's settings decide. */
  project: z.string().min(1).max(200).optional(),
  directory: Directory.optional(),
  /** The outer first. Nested ones are indexed on their own, by the results that name them. */
  repositories: z.array(Repository).max(64).optional(),
  environment: EnvironmentName.optional(),
  command: Text.default(""),
  targets: z.array(Text).max(1_000).optional(),
  /** False: nothing is prefetched. */
  prefetch: z.boolean().optional(),
};

const Hinted = z.union([
  Name.transform((key): ResultKey => ({ namespace: "results", key })),
  z.object({ namespace: Namespace, key: z.string().min(1).max(1_024) }),
]);

const Hello = z.object({
  type: z.literal("hello"),
  id,
  versions: z.array(z.number().int()).max(100),
  /** The secret in the granary's `endpoint` file; required on its TCP port only. */
  secret: z.string().max(200).optional(),
});

const BuildStarted = z.object({
  type: z.literal("build-started"),
  ...WhatIsBuilt,
  /** The variables of the build: its environment is derived from them when it names none. */
  variables: z.record(z.string(), z.string()).optional(),
  /** How long the answer may wait for prefetched results; by default not at all. */
  waitMs: Milliseconds.optional(),
  /** For a build that runs dune, which sends no requests: where it runs, and its own directories. */
  dune: z
    .object({
      directory: Directory,
      variables: z.record(z.string().max(200), z.string().max(10_000)),
    })
    .optional(),
});
export type BuildStarted = z.infer<typeof BuildStarted>;

/** Returns the tool of a plug-in (`tool-plugins.ts`) that a build runs. The protocol has a field for each. */
export function announcedTool({ dune }: BuildStarted) {
  return dune && { name: "dune", place: dune };
}

/** The repository of a result: its position in the `repositories` of the build. Without one, the first. */
const RepositoryPosition = z.number().int().min(0).max(63).optional();

const Output = z.object({ path: OutputPath, file: Directory, executable: z.boolean().optional() });

const Clients = {
  hint: z.object({ type: z.literal("hint"), id, keys: z.array(Hinted).max(mostKeys) }),
  approximation: z.object({
    type: z.literal("approximation"),
    id,
    approx: Approx,
    key: Name,
    /**
     * Whether the approximation covers all inputs of the result, so that a match identifies the result. Otherwise
     * several results may match.
     */
    exact: z.boolean().default(false),
  }),
  lookUp: z
    .object({
      type: z.literal("look-up"),
      id,
      key: Name.optional(),
      approx: Approx.optional(),
      repository: RepositoryPosition,
    })
    .refine(
      ({ key, approx }) => (key === undefined) !== (approx === undefined),
      "either key or approx",
    ),
  result: z.object({
    type: z.literal("result"),
    id,
    key: Name,
    outputs: z.array(Output).max(mostKeys),
    costMs: Milliseconds.optional(),
    /** Paths of the repository that it was made of. */
    inputs: z.array(z.string().max(4_096)).max(mostKeys).optional(),
    repository: RepositoryPosition,
  }),
  ended: z.object({
    type: z.literal("build-ended"),
    id,
    exitCode: z.number().int().nullable(),
    /** Whether it requested all results that a build of its targets requests. */
    complete: z.boolean().default(false),
    /** Whether the answer waits until all results were sent to the farm. */
    sync: z.boolean().default(false),
  }),
  status: z.object({ type: z.literal("status"), id }),
  report: z.object({
    type: z.literal("report"),
    id,
    /** A build's id or its beginning; the last build when absent. */
    build: ShortId.optional(),
  }),
  trim: z.object({ type: z.literal("trim"), id }),
  stop: z.object({ type: z.literal("stop"), id }),
  fetchAhead: z.object({
    type: z.literal("fetch-ahead"),
    ...WhatIsBuilt,
    /** Only returns what would be fetched. */
    dryRun: z.boolean().default(false),
  }),
};

export const ClientMessage = z.discriminatedUnion("type", [
  Hello,
  BuildStarted,
  Clients.hint,
  Clients.approximation,
  Clients.lookUp,
  Clients.result,
  Clients.ended,
  Clients.status,
  Clients.report,
  Clients.trim,
  Clients.stop,
  Clients.fetchAhead,
]);
export type ClientMessage = z.infer<typeof ClientMessage>;
export type MessageId = z.infer<typeof id>;

export type Message<Type extends ClientMessage["type"]> = Extract<ClientMessage, { type: Type }>;

const known: ReadonlySet<string> = new Set(
  ClientMessage.options.map(({ shape }) => shape.type.value),
);

/** A parsed line. An unknown message is no failure: a later version may have sent it. */
export type ParsedLine =
  | { readonly kind: "message"; readonly message: ClientMessage }
  | { readonly kind: "unknown"; readonly id: MessageId; readonly note: string }
  | { readonly kind: "wrong"; readonly id: MessageId; readonly note: string };

export function readMessage(line: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { kind: "wrong", id: undefined, note: "a line is not JSON" };
  }
  const asked = z.object({ type: z.string(), id: id.catch(undefined) }).safeParse(value);
  if (!asked.success)
    return { kind: "wrong", id: undefined, note: "a message is an object with a type" };
  const { type } = asked.data;
  if (!known.has(type)) {
    return {
      kind: "unknown",
      id: asked.data.id,
      note: `"${type.slice(0, 100)}" is not a known type of message`,
    };
  }
  const parsed = ClientMessage.safeParse(value);
  if (parsed.success) return { kind: "message", message: parsed.data };
  const note = `${type}: ${z.prettifyError(parsed.error).slice(0, 1_000)}`;
  return { kind: "wrong", id: asked.data.id, note };
}
