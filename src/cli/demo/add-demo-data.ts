import type { Outlet } from "../terminal/terminal.ts";
import type { DemoFarm } from "./demo-farm.ts";
import { tourLines } from "./demo-lines.ts";
import { readDemoRecord } from "./demo-record.ts";
import { fillDemo } from "./fill-demo.ts";
import { collectorFolder, demoCollector } from "./measure-commits.ts";
import type { Demo } from "./open-demo.ts";

/** Adds the data that the demo's first graph does not show, and prints the pages to open. */
export async function addDemoData(
  farm: DemoFarm,
  { recordFile, folder, repository }: Demo,
  notes: Pick<Outlet, "line">,
): Promise<void> {
  const done = await readDemoRecord(recordFile);
  if (done.size === 0) notes.line("The rest of the demo follows in about two minutes:");
  const isComplete = await fillDemo(farm, recordFile, notes);
  if (!isComplete) return;
  // Also after the first time, so that pages can request measurements.
  farm.startCollector(demoCollector, collectorFolder(folder));
  for (const line of tourLines(farm.url, repository.path)) notes.line(line);
}
