import { createReadStream } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { startDigest } from "#cas/digest-of.ts";
import { tempFileIn } from "#cas/temp-file.ts";
import { Digest } from "#core/digest.ts";
import type { FileVersion } from "./working-tree.ts";

const Known = z.record(z.string(), z.object({ version: z.string(), digest: Digest }));

/** A file that changed less than this long ago may change again without a new modification time. */
const settledMs = 2_000;

/** The digests of files, stored on disk while the files do not change. */
export class FileDigests {
  readonly #file: string;
  readonly #known: Map<string, z.infer<typeof Known>[string]>;
  #isChanged = false;

  private constructor(file: string, known: z.infer<typeof Known>) {
    this.#file = file;
    this.#known = new Map(Object.entries(known));
  }

  /** Opens the file of an earlier process; an unreadable file counts as empty. */
  static async open(file: string): Promise<FileDigests> {
    const text = await readFile(file, "utf8").catch(() => "{}");
    const known = Known.safeParse(parseJson(text));
    return new FileDigests(file, known.success ? known.data : {});
  }

  async digestOf(path: string, version: FileVersion): Promise<Digest> {
    const written = Object.values(version).join(" ");
    const known = this.#known.get(path);
    if (known?.version === written) return known.digest;
    const running = startDigest();
    for await (const chunk of createReadStream(path)) running.update(chunk as Buffer);
    const digest = running.digest();
    if (Date.now() - Math.max(version.modifiedMs, version.changedMs) > settledMs) {
      this.#known.set(path, { version: written, digest });
      this.#isChanged = true;
    }
    return digest;
  }

  async save(): Promise<void> {
    if (!this.#isChanged) return;
    await mkdir(dirname(this.#file), { recursive: true });
    const temp = tempFileIn(dirname(this.#file));
    await writeFile(temp, JSON.stringify(Object.fromEntries(this.#known)));
    await rename(temp, this.#file);
    this.#isChanged = false;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
