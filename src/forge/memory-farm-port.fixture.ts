import { Fault } from "#core/fault.ts";
import type { FarmPort, GraphToMake } from "./farm-port.ts";

/** A farm in memory, which records running and ended graphs. */
export interface MemoryFarmPort extends FarmPort {
  readonly graphs: Map<string, GraphToMake & { isCancelled: boolean; submissions: number }>;
  readonly requests: { artifact: string; kind: string | undefined; by: string }[];
  /** Makes a call fail before it does anything, or after it has been done. */
  fails: (call: string, commit: string) => "before" | "after" | "for good" | undefined;
  running(): GraphToMake[];
}

export function memoryFarmPort(): MemoryFarmPort {
  const failing = async <T>(call: string, commit: string, work: () => T): Promise<T> => {
    const fault = new Fault("unavailable", `${call} did not work out`);
    const how = service.fails(call, commit);
    if (how === "for good") throw new Fault("invalid_argument", "the definitions are wrong");
    if (how === "before") throw fault;
    const answer = work();
    if (how === "after") throw fault;
    return answer;
  };
  const service: MemoryFarmPort = {
    url: "https://farm.test",
    graphs: new Map(),
    requests: [],
    fails: () => undefined,
    running: () => [...service.graphs.values()].filter(({ isCancelled }) => !isCancelled),
    nameRepository: async (url) => url.replace(/^.*\/([^/]+\/[^/]+?)(\.git)?$/, "$1"),
    submitGraph: (wanted) =>
      failing("submitGraph", wanted.sha, () => {
        const known = service.graphs.get(wanted.id);
        const submissions = (known?.submissions ?? 0) + 1;
        service.graphs.set(wanted.id, {
          ...wanted,
          isCancelled: known?.isCancelled ?? false,
          submissions,
        });
        return { isNew: known === undefined };
      }),
    graph: async () => undefined,
    cancelGraph: (id) =>
      failing("cancelGraph", service.graphs.get(id)?.sha ?? "", () => {
        const known = service.graphs.get(id);
        if (known !== undefined) known.isCancelled = true;
      }),
    retrigger: async () => ({ jobs: [] }),
    requestBenchmark: ({ artifact, kind }, by) =>
      failing("requestBenchmark", artifact, () => {
        service.requests.push({ artifact, kind, by: by.name });
        return { outcome: "created", sentence: "", parents: [], request: {} as never };
      }),
    cancelBenchmark: async () => false,
    grantsOf: async () => [],
  };
  return service;
}
