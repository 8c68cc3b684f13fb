import { createHash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { defaultProject } from "#core/default-project.ts";

/** Where one project's blobs lie, seen from the store's directory. */
export const Namespace = z.string().brand<"Namespace">();
export type Namespace = z.infer<typeof Namespace>;

/** The store's own directory, as farms had it before there were others: that of the default project. */
export const ownNamespace = Namespace.parse("");

/** All others lie below it. */
export const namespacesDirectory = "projects";

const mostShown = 40;
/** Two of a million names share 128 bits once in 10²⁶ farms. */
const hashDigits = 32;

/**
 * Returns the namespace of a project with any name.
 *
 * People recognise it by the beginning of the name; the hash makes it unique. So no name leaves the directory or is too
 * long, and names that a file system would treat as equal stay different.
 */
export function namespaceOf(project: string): Namespace {
  if (project === defaultProject) return ownNamespace;
  const shown = project
    .slice(0, mostShown)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  const hash = createHash("sha256").update(project).digest("hex").slice(0, hashDigits);
  return Namespace.parse(join(namespacesDirectory, `${shown}-${hash}`));
}
