import { createHash } from "node:crypto";
import { z } from "zod";

/** The name that dune gives to a rule's execution, or to a file. */
export const DuneDigest = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .brand<"DuneDigest">();
export type DuneDigest = z.infer<typeof DuneDigest>;

/** dune names a file by its content and by whether its owner may run it. */
class FileHash {
  readonly #content = createHash("md5");

  update(bytes: Uint8Array): this {
    this.#content.update(bytes);
    return this;
  }

  digest(executable: boolean): DuneDigest {
    const both = createHash("md5").update(this.#content.digest());
    return both.update(Uint8Array.of(executable ? 1 : 0)).digest("hex") as DuneDigest;
  }
}

export function fileDigest(bytes: Uint8Array, executable: boolean): DuneDigest {
  return new FileHash().update(bytes).digest(executable);
}
