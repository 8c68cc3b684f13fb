import { z } from "zod";

/** This machine cannot know the directory that a relative path would be in. */
const PathThere = z.string().startsWith("/", "a path on another machine must be absolute");

/**
 * The settings of a worker on another machine. They are sent on stdin and stored in a file that only its user can read.
 */
export const WorkerSettings = z.object({
  server: z.url({ protocol: /^https?$/ }),
  // A folder has the same name.
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "a name consists of letters, digits, . _ -"),
  /** Whether it connects through a tunnel: then `server` changes while it runs. */
  tunnel: z.boolean(),
  slots: z.number().int().min(1).optional(),
  sizeClass: z.number().int().min(1).optional(),
  cpus: z.number().positive().nullish(),
  memoryBytes: z.number().int().positive().nullish(),
  diskBytes: z.number().int().positive().nullish(),
  allowRootJobs: z.boolean().optional(),
  /** The worker there checks the names. */
  allowedCalls: z.array(z.string()).optional(),
  allowsNamespaces: z.boolean().optional(),
  privateNetwork: z.boolean().optional(),
  shownPaths: z.array(PathThere).optional(),
  registries: z.string().optional(),
  preload: z.array(z.string()).optional(),
  onlyFor: z.array(z.string()).optional(),
  persistentWorkers: z.number().int().min(0).optional(),
  leaseMs: z.number().int().positive(),
  once: z.boolean(),
  hiddenPaths: z.array(PathThere),
  logLevel: z.string(),
  token: z.string().optional(),
  /** Authorities in PEM, because the other machine does not have their file. */
  ca: z.string().optional(),
});
export type WorkerSettings = z.infer<typeof WorkerSettings>;

/** The answer of the other machine to `start`. */
export const Started = z.object({
  kind: z.enum(["started", "already"]),
  pid: z.number(),
  /** Why the farm is unreachable from there; null when it is reachable. */
  unreachable: z.string().nullable(),
});
export type Started = z.infer<typeof Started>;

export const Pointed = z.object({ kind: z.enum(["pointed", "absent"]) });

export const Stopped = z.object({ kind: z.enum(["stopped", "killed", "absent"]) });
export type Stopped = z.infer<typeof Stopped>;

export const Status = z.object({
  running: z.boolean(),
  pid: z.number().nullable(),
  since: z.string().nullable(),
  server: z.string().nullable(),
  log: z.string(),
  lastLines: z.array(z.string()),
});
export type Status = z.infer<typeof Status>;

export const RemoteFailure = z.object({ error: z.string() });
