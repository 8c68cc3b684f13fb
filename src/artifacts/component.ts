import { z } from "zod";
import { CommitSha } from "#core/commit-sha.ts";
import { NpmPackage, NpmVersion } from "#suites/suite.ts";

/** Where to get what serves a backend of an artifact. */
export const Component = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("npm"),
    package: NpmPackage,
    version: NpmVersion,
    /** `sha512-…`, when it is known before it is fetched. */
    integrity: z.string().optional(),
  }),
  z.object({ kind: z.literal("git"), repository: z.string().min(1), commit: CommitSha }),
  /** A tarball in the farm's store: `HASH/SIZE`, SHA-256. */
  z.object({ kind: z.literal("blob"), digest: z.string().regex(/^[0-9a-f]{64}\/\d{1,15}$/) }),
  /** A folder or tarball of this machine; only where no server is involved. */
  z.object({ kind: z.literal("path"), path: z.string().min(1) }),
]);
export type Component = z.infer<typeof Component>;

/** Backend → the component that serves it. A backend that an artifact does not have is absent. */
export const Components = z.record(z.string(), Component);
export type Components = z.infer<typeof Components>;
