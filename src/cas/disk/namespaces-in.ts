import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Namespace, namespacesDirectory } from "../namespaces/namespace.ts";
import { diskFault, errnoOf } from "./disk-fault.ts";

/** Returns the current namespaces of projects other than the default one. */
export async function namespacesIn(directory: string): Promise<Namespace[]> {
  const found = await readdir(join(directory, namespacesDirectory), { withFileTypes: true }).catch(
    (reason: unknown) => {
      if (errnoOf(reason) === "ENOENT") return [];
      throw diskFault(reason, directory);
    },
  );
  return found
    .filter((each) => each.isDirectory())
    .map(({ name }) => Namespace.parse(join(namespacesDirectory, name)));
}
