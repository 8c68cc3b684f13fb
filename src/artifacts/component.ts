import { z } from "zod";
import { CommitSha } from "#core/commit-sha.ts";
import { NpmPackage, NpmVersion } from "#suites/suite.ts";

/** The source of a component that serves a backend of an artifact. */
export const Component = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("npm"),
    package: NpmPackage,
    version: NpmVersion,
    /** `sha512-…`, when known before the fetch. */
    integrity: z.string().optional(),
  }),
  z.object({ kind: z.literal("git"), repository: z.string().min(1), commit: CommitSha }),
  /** A tarball in the farm's store: `HASH/SIZE`, SHA-256. */
  z.object({ kind: z.literal("blob"), digest: z.string().regex(/^[0-9a-f]{64}\/\d{1,15}$/) }),
  /** A folder or tarball of this machine; only without a server. */
  z.object({ kind: z.literal("path"), path: z.string().min(1) }),
]);
export type Component = z.infer<typeof Component>;

/** From a backend to its component. A backend that an artifact does not have is absent. */
export const Components = z.record(z.string(), Component);
export type Components = z.infer<typeof Components>;
