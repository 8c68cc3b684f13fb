import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "#core/fault.ts";
import type { LocalOutput } from "./protocol.ts";

/** What an output must be. */
interface Expected {
  readonly output: string;
  readonly sizeBytes: number;
}

/** The outputs of Go's actions in a directory of this machine, which several go commands use at the same time. */
export interface LocalOutputs {
  /** Returns the output of an action; undefined without one, and when its file is missing or damaged. */
  find(action: string): Promise<LocalOutput | undefined>;
  /**
   * Stores the output of an action.
   *
   * Throws `data_loss` when the bytes are not those that are expected; then nothing is stored.
   */
  store(
    action: string,
    expected: Expected,
    storedAtMs: number,
    body: AsyncIterable<Uint8Array>,
  ): Promise<LocalOutput>;
}

/** The use of an entry is recorded at most this often, in ms. */
const useEveryMs = 3_600_000;

/**
 * The fields of an action's file: output, size in bytes, time of the first storing in ms, modification time of the
 * output's file in ns. The last one shows whether the file was touched since it was verified.
 */
const actionLine = /^1 ([0-9a-f]{64}) (\d{1,15}) (\d{1,15}) (\d{1,20})\n$/;

export function actionsIn(directory: string): string {
  return join(directory, "actions");
}

export function outputsIn(directory: string): string {
  return join(directory, "outputs");
}

/** Returns the output that the text of an action's file names; undefined for another text. */
export function outputOfActionFile(text: string): string | undefined {
  return actionLine.exec(text)?.[1];
}

export function localOutputs(directory: string): LocalOutputs {
  const actionPath = (action: string) => join(actionsIn(directory), action.slice(0, 2), action);
  const outputPath = (output: string) => join(outputsIn(directory), output.slice(0, 2), output);
  const temporary = () => join(directory, "temp", randomUUID());
  /** A file is complete under its name, or absent: also when a process is killed. */
  const place = async (from: string, to: string) => {
    try {
      await rename(from, to);
    } catch {
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      await rename(from, to);
    }
  };
  const record = async (action: string, { output, sizeBytes, storedAtMs, path }: LocalOutput) => {
    const { mtimeNs } = await stat(path, { bigint: true });
    const file = temporary();
    await writeFile(file, `1 ${output} ${sizeBytes} ${storedAtMs} ${mtimeNs}\n`);
    await place(file, actionPath(action));
  };

  return {
    async find(action) {
      const path = actionPath(action);
      const text = await readFile(path, "utf8").catch(() => "");
      const fields = actionLine.exec(text);
      if (fields === null) return undefined;
      const [, output = "", size = "", storedAt = "", mtimeNs = ""] = fields;
      const found = {
        output,
        sizeBytes: Number(size),
        storedAtMs: Number(storedAt),
        path: outputPath(output),
      };
      const file = await stat(found.path, { bigint: true }).catch(() => undefined);
      if (file === undefined || file.size !== BigInt(size)) return undefined;
      if (file.mtimeNs !== BigInt(mtimeNs)) {
        if ((await hashOfFile(found.path)) !== output) {
          await rm(found.path, { force: true });
          return undefined;
        }
        await record(action, found);
      }
      await noteUse(path);
      return found;
    },

    async store(action, expected, storedAtMs, body) {
      await mkdir(join(directory, "temp"), { recursive: true, mode: 0o700 });
      const file = temporary();
      try {
        await writeChecked(file, expected, body);
        const path = outputPath(expected.output);
        await place(file, path);
        const { output, sizeBytes } = expected;
        const stored = { output, sizeBytes, storedAtMs, path };
        await record(action, stored);
        return stored;
      } catch (reason) {
        await rm(file, { force: true });
        throw reason;
      }
    },
  };
}

async function writeChecked(
  path: string,
  { output, sizeBytes }: Expected,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await open(path, "wx", 0o600);
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > sizeBytes) break;
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  if (bytes !== sizeBytes) {
    const more = bytes > sizeBytes ? "more than " : "";
    throw new Fault("data_loss", `an output has ${more}${bytes} bytes and not ${sizeBytes}`);
  }
  const found = hash.digest("hex");
  if (found === output) return;
  throw new Fault("data_loss", `the bytes of an output have the hash ${found} and not ${output}`);
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

/** Entries that were unused for days are removed: see `trimOutputs`. */
async function noteUse(path: string): Promise<void> {
  const now = new Date();
  const file = await stat(path).catch(() => undefined);
  if (file === undefined || now.getTime() - file.mtimeMs < useEveryMs) return;
  await utimes(path, now, now).catch(() => {});
}
