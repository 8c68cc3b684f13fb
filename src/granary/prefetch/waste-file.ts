import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import {
  afterBuild,
  noRecord,
  shouldPrefetch,
  type WasteOfBuild,
  WasteRecord,
} from "./waste-history.ts";

const WasteFile = z.array(z.tuple([z.string(), WasteRecord]));

/** The number of commands that are remembered. */
const mostCommands = 500;

export interface WasteMemory {
  shouldPrefetch(project: string, command: string): boolean;
  /** Returns whether any build of the project has ended on this machine. */
  hasBuilt(project: string): boolean;
  remember(project: string, command: string, build: WasteOfBuild | "skipped"): Promise<void>;
}

/** Opens the file that records how useful prefetching was. If it is missing or broken, learning starts again. */
export async function openWasteMemory(path: string): Promise<WasteMemory> {
  const records = new Map<string, WasteRecord>();
  try {
    for (const [name, record] of WasteFile.parse(JSON.parse(await readFile(path, "utf8")))) {
      records.set(name, record);
    }
  } catch {
    // Ignored: the file is only advice.
  }
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, JSON.stringify([...records]));
    await rename(`${path}.new`, path);
  }

  return {
    shouldPrefetch: (project, command) =>
      shouldPrefetch(records.get(nameOf(project, command)) ?? noRecord),
    hasBuilt: (project) => {
      const ofProject = `${JSON.stringify([project]).slice(0, -1)},`;
      return [...records.keys()].some((name) => name.startsWith(ofProject));
    },
    async remember(project, command, build) {
      const name = nameOf(project, command);
      const record = afterBuild(records.get(name) ?? noRecord, build);
      records.delete(name);
      records.set(name, record);
      for (const oldest of records.keys()) {
        if (records.size <= mostCommands) break;
        records.delete(oldest);
      }
      writing = writing.then(write).catch(() => {});
      await writing;
    },
  };
}

function nameOf(project: string, command: string): string {
  return JSON.stringify([project, command]);
}
