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
 * The namespace of a project, whatever its name is.
 *
 * People recognise it by what the name begins with; the hash tells it from others. So nothing climbs out of the
 * directory, no name is too long, and two names that a file system takes for one are two.
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
