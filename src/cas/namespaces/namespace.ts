import { createHash } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { defaultProject } from "#core/default-project.ts";

/** The path of one project's blobs, relative to the store's directory. */
export const Namespace = z.string().brand<"Namespace">();
export type Namespace = z.infer<typeof Namespace>;

/** The store's own directory, the only one in early versions: the namespace of the default project. */
export const ownNamespace = Namespace.parse("");

/** All other namespaces are below this directory. */
export const namespacesDirectory = "projects";

const mostShown = 40;
/** With a million names, two share 128 bits in one of 10²⁶ farms. */
const hashDigits = 32;

/**
 * Returns the namespace of a project with any name.
 *
 * People recognise it by the beginning of the name; the hash makes it unique. So no name leads out of the directory or
 * is too long, and names that a file system would treat as equal stay different.
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
