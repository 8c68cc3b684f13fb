import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  buildThrough,
  commitAll,
  type DuneMachine,
  duneMachine,
  executed,
  run,
  type ToyFarm,
  toyFarm,
} from "./dune-machine.ts";
import { sixtyModules, writeToyProject } from "./toy-project.ts";

/** One build: until it was over, and what dune with its children, and the granary, computed for it. */
export interface Timing {
  readonly case: string;
  readonly wallMs: number;
  readonly duneCpuMs: number;
  readonly granaryCpuMs: number;
  /** Compilers and the like that dune ran. */
  readonly executed: number;
}

type Build = (root: string) => Promise<Omit<Timing, "case">>;

/** The seed's four cases, and ours between them: in turn, so often. */
export async function fourTimings(
  root: string,
  turns: number,
  onTiming: (timing: Timing) => void = () => {},
): Promise<Timing[]> {
  await writeToyProject(root, sixtyModules);
  await commitAll(root);
  const farm = await fullFarm(root);
  const timings: Timing[] = [];
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, build] of Object.entries(cases(farm))) {
      await rm(join(root, "_build"), { recursive: true, force: true });
      const timing = { case: name, ...(await build(root)) };
      timings.push(timing);
      onTiming(timing);
    }
  }
  return timings;
}

async function fullFarm(root: string): Promise<ToyFarm> {
  const farm = toyFarm();
  const machine = await duneMachine();
  const { build } = await buildThrough(machine, root);
  await machine.publish(build, farm);
  await machine.remove();
  return farm;
}

function cases(farm: ToyFarm): Record<string, Build> {
  const fresh =
    (options: { farm?: ToyFarm; preparedMs?: number; gateMs?: number; perl?: string }): Build =>
    (root) =>
      onMachine(options, (machine) => through(machine, root, options));
  return {
    "cache off": (root) =>
      onMachine({}, (machine) => timed(root, { ...machine.variables, DUNE_CACHE: "disabled" })),
    "on, empty": fresh({}),
    "on, empty, without an endpoint file": fresh({ perl: "/nowhere" }),
    "on, empty, dune's own daemon": (root) =>
      onMachine({}, (machine) => timed(root, { ...machine.variables, DUNE_CACHE: "enabled" })),
    "farm full, fetched first": fresh({ farm, preparedMs: 10_000 }),
    "farm full, racing, gate 0 ms": fresh({ farm, gateMs: 0 }),
    "farm full, racing, gate 40 ms": fresh({ farm, gateMs: 40 }),
    "farm full, racing, gate 500 ms": fresh({ farm, gateMs: 500 }),
    "all full": (root) =>
      onMachine({}, async (machine) => {
        await buildThrough(machine, root, { farm, preparedMs: 10_000 });
        await rm(join(root, "_build"), { recursive: true });
        return through(machine, root, {});
      }),
  };
}

async function onMachine<T>(
  options: { gateMs?: number; perl?: string },
  use: (machine: DuneMachine) => Promise<T>,
): Promise<T> {
  const { gateMs, perl } = options;
  const machine = await duneMachine({
    ...(gateMs !== undefined && { gateMs }),
    ...(perl !== undefined && { perl }),
  });
  try {
    return await use(machine);
  } finally {
    await machine.remove();
  }
}

async function through(
  machine: DuneMachine,
  root: string,
  { farm, preparedMs = 0 }: { farm?: ToyFarm; preparedMs?: number },
) {
  const before = process.cpuUsage();
  const startedAt = performance.now();
  const attached = await machine.server.attach(machine.startBuild(farm), {
    variables: machine.variables,
    directory: root,
  });
  await attached?.prepared?.(preparedMs);
  const preparation = performance.now() - startedAt;
  const built = await timed(root, { ...machine.variables, ...attached?.settings });
  await attached?.learn();
  await attached?.finish();
  const { user, system } = process.cpuUsage(before);
  return { ...built, wallMs: built.wallMs + preparation, granaryCpuMs: (user + system) / 1_000 };
}

async function timed(root: string, variables: Readonly<Record<string, string>>) {
  const { PATH = "" } = process.env;
  const startedAt = performance.now();
  const { stdout } = await run(
    "bash",
    ["-c", 'TIMEFORMAT="%U %S"; { time dune build --root "$0" -j2 2>/dev/null; } 2>&1', root],
    { env: { PATH, ...variables }, timeout: 200_000, killSignal: "SIGKILL" },
  );
  const wallMs = performance.now() - startedAt;
  const [user = 0, system = 0] = stdout.trim().split(" ").map(Number);
  return {
    wallMs,
    duneCpuMs: (user + system) * 1_000,
    granaryCpuMs: 0,
    executed: await executed(root),
  };
}
