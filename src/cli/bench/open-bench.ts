import { type ArtifactCache, openArtifactCache } from "#artifacts/artifact-cache.ts";
import { Fault } from "#core/fault.ts";
import { defaultMeasuringLock, MeasuringLock } from "#machine/measuring-lock.ts";
import {
  type EnvironmentFacts,
  environmentFacts,
  fingerprintOf,
} from "#measuring/environment/facts.ts";
import { judgeLoad, sampleLoad } from "#measuring/environment/load.ts";
import { openWorkPlace, type WorkPlace } from "#measuring/work-place.ts";
import type { Session } from "../session.ts";
import { stopSignals } from "../up/stop-signals.ts";
import { type BenchPlaces, cacheLimitBytes } from "./bench-places.ts";

/** The opened parts for measuring on this machine. */
export interface Bench {
  readonly cache: ArtifactCache;
  readonly place: WorkPlace;
  readonly facts: EnvironmentFacts;
  readonly fingerprint: string;
  readonly notes: readonly string[];
  readonly signal: AbortSignal;
}

/** Opens it for some work, and closes it afterwards, also after a failure. */
export async function withBench<T>(
  { terminal, config }: Session,
  places: BenchPlaces,
  sandbox: boolean,
  work: (bench: Bench) => Promise<T>,
): Promise<T> {
  const { paint } = terminal.notes;
  const stop = stopSignals(() => process.exit(130));
  const notes: string[] = [];
  const turn = await new MeasuringLock(
    config.measuringLock ?? defaultMeasuringLock,
    "grange bench",
  ).take(stop.asked, ({ name, pid }) =>
    terminal.notes.line(`waiting for ${name} (process ${pid}), which measures on this machine`),
  );
  try {
    if (turn === undefined)
      throw new Fault("cancelled", "stopped while waiting for another measurement");
    const cache = await openArtifactCache({ directory: places.cache, limitBytes: cacheLimitBytes });
    const place = await openWorkPlace({
      directory: places.work,
      cache,
      sandbox: sandbox ? "auto" : "none",
      signal: stop.asked,
      tell: (note) => {
        notes.push(note);
        terminal.notes.line(paint.yellow(`note: ${note}`));
      },
    });
    try {
      const quiet = judgeLoad(await sampleLoad(1_000, stop.asked), "flag");
      if (quiet.kind !== "quiet") place.note(`the machine is not idle: ${quiet.why}`);
      const facts = environmentFacts(place.tools);
      const fingerprint = fingerprintOf(facts);
      return await work({ cache, place, facts, fingerprint, notes, signal: stop.asked });
    } finally {
      await place.close();
    }
  } finally {
    await turn?.release();
    stop.forget();
  }
}
