import { type Lab, startLab } from "./lab.ts";
import { realSuite } from "./real-suite.ts";

/**
 * Starts a lab with these benchmarks of the real suite, by set: profile check, scenario full; a collector for each set.
 */
export async function startRealLab(sets: readonly (readonly string[])[]): Promise<Lab> {
  const lab = await startLab();
  try {
    const excerpt = { benchmarks: sets, profiles: ["check"], scenarios: ["full"], timed: 1 };
    await lab.push(await realSuite(excerpt));
    for (const set of sets.keys()) {
      const name = ["north", "south"][set] ?? `collector-${set}`;
      await lab.addCollector({ name, target: "linux-x64", set });
      lab.startCollector(name);
    }
    return lab;
  } catch (reason) {
    await lab.stop();
    throw reason;
  }
}
