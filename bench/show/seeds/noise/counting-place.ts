import { openWorkPlace, type WorkPlace } from "#measuring/work-place.ts";

/** Opens a place to measure artifacts that are folders of this machine, as the lab's programs measure them. */
export function openCountingPlace(directory: string): Promise<WorkPlace> {
  return openWorkPlace({
    directory,
    tell: (sentence) => process.stderr.write(`  ${sentence}\n`),
    cache: {
      placeSource: () => Promise.reject(new Error("the programs have no sources")),
      release: () => Promise.resolve(),
    },
  });
}
