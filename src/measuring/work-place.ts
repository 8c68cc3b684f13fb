import { join } from "node:path";
import type { ArtifactCache } from "#artifacts/artifact-cache.ts";
import { Fault } from "#core/fault.ts";
import { takeLock } from "#machine/holder-lock.ts";
import { makePrivateDirectory } from "#machine/make-directory.ts";
import { removeTree } from "#machine/remove-tree.ts";
import { findTools, type MeasuringTools, type SandboxRequest } from "./processes/tools.ts";

/**
 * The place and the settings with which this machine measures. Only one at a time, because two would disturb each
 * other.
 */
export interface WorkPlace {
  readonly directory: string;
  readonly tools: MeasuringTools;
  readonly cache: Pick<ArtifactCache, "placeSource" | "release">;
  /** Reports once a fact that applies to all figures, e.g. that instructions cannot be counted here. */
  readonly note: (sentence: string) => void;
  close(): Promise<void>;
}

export interface WorkPlaceSettings {
  /** A directory that only this process uses. */
  readonly directory: string;
  readonly cache: Pick<ArtifactCache, "placeSource" | "release">;
  /** Default `auto`: bubblewrap if it works, otherwise none, which is reported. */
  readonly sandbox?: SandboxRequest | undefined;
  /** Receives each note once. */
  readonly tell?: ((sentence: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function openWorkPlace(settings: WorkPlaceSettings): Promise<WorkPlace> {
  const { directory, cache, tell, signal } = settings;
  makePrivateDirectory(directory);
  const taken = await takeLock(join(directory, "measuring.lock"), "measuring");
  if ("holder" in taken)
    throw new Fault(
      "failed_precondition",
      `${taken.holder.where} already measures on this machine; two at the same time would disturb each other`,
    );
  const { lock } = taken;
  try {
    const reported = new Set<string>();
    const note = (sentence: string) => {
      if (reported.has(sentence)) return;
      reported.add(sentence);
      tell?.(sentence);
    };
    const never = new AbortController().signal;
    const tools = await findTools(settings.sandbox ?? "auto", directory, signal ?? never);
    for (const sentence of tools.notes) note(sentence);
    return {
      directory,
      tools,
      cache,
      note,
      async close() {
        await removeTree(join(directory, "now"));
        await lock.release();
      },
    };
  } catch (reason) {
    await lock.release();
    throw reason;
  }
}
