import { join } from "node:path";
import { type DemoRepository, findOrMakeDemo } from "../example/make-demo.ts";
import type { DemoTools } from "./demo-steps.ts";
import { findDemoTools } from "./find-tools.ts";

/** The demo in the data directory of a farm. */
export interface Demo {
  readonly folder: string;
  readonly recordFile: string;
  readonly repository: DemoRepository;
  readonly tools: DemoTools;
}

/** Creates the demo project below the farm's data, unless it exists. */
export async function openDemo(dataDir: string): Promise<Demo> {
  const folder = join(dataDir, "demo");
  const [repository, tools] = await Promise.all([
    findOrMakeDemo(join(folder, "concordance")),
    findDemoTools(),
  ]);
  return { folder, recordFile: join(folder, "record.json"), repository, tools };
}
