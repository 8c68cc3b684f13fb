import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ArtifactShelf } from "#artifacts/artifact-shelf.ts";
import { isAlive, markOfProcess } from "#artifacts/process-mark.ts";
import { Fault } from "#core/fault.ts";
import { removeTree } from "./folders/run-folders.ts";
import { findTools, type MeasuringTools, type SandboxWish } from "./processes/tools.ts";

/** Where and with what this machine measures. One at a time: two would measure each other. */
export interface WorkPlace {
  readonly directory: string;
  readonly tools: MeasuringTools;
  readonly shelf: Pick<ArtifactShelf, "placeSource" | "release">;
  /** Tells once what is so for all figures, e.g. that instructions cannot be counted here. */
  readonly note: (sentence: string) => void;
  close(): Promise<void>;
}

export interface WorkPlaceSettings {
  /** Ours alone. */
  readonly directory: string;
  readonly shelf: Pick<ArtifactShelf, "placeSource" | "release">;
  /** `auto`, unless told: bubblewrap where it works, else none, which is told. */
  readonly sandbox?: SandboxWish | undefined;
  /** Hears each note once. */
  readonly tell?: ((sentence: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function openWorkPlace(settings: WorkPlaceSettings): Promise<WorkPlace> {
  const { directory, shelf, tell, signal } = settings;
  const holder = join(directory, "measuring.pid");
  await mkdir(directory, { recursive: true });
  await hold(holder);
  try {
    const told = new Set<string>();
    const note = (sentence: string) => {
      if (told.has(sentence)) return;
      told.add(sentence);
      tell?.(sentence);
    };
    const never = new AbortController().signal;
    const tools = await findTools(settings.sandbox ?? "auto", directory, signal ?? never);
    for (const sentence of tools.notes) note(sentence);
    return {
      directory,
      tools,
      shelf,
      note,
      async close() {
        await removeTree(join(directory, "now"));
        await rm(holder, { force: true });
      },
    };
  } catch (reason) {
    await rm(holder, { force: true });
    throw reason;
  }
}

/** A file with our mark, linked so that it is never seen half; that of a process that is gone is taken over. */
async function hold(file: string): Promise<void> {
  const mark = markOfProcess(process.pid);
  const own = `${file}.${mark}.${randomUUID()}`;
  await writeFile(own, mark);
  try {
    if (await linked(own, file)) return;
    const holder = await readFile(file, "utf8").catch(() => "");
    if (holder === "" || !isAlive(holder)) {
      await rm(file, { force: true });
      if (await linked(own, file)) return;
    }
    throw new Fault(
      "failed_precondition",
      `process ${holder.split("-", 1)[0]} measures here already; two at once would measure each other`,
    );
  } finally {
    await rm(own, { force: true });
  }
}

async function linked(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}
