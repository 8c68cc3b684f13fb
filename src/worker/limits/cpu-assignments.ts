import { type CpuLoads, chooseCpus, withLoad } from "./choose-cpus.ts";

interface TakenCpus {
  readonly cpus: readonly number[];
  giveBack(): void;
}

/** Assigns CPUs to the actions of one worker. */
export class CpuAssignments {
  readonly #cpus: readonly number[];
  readonly #coreOf: ReadonlyMap<number, string>;
  #loads: CpuLoads = new Map();

  constructor(cpus: readonly number[], coreOf: ReadonlyMap<number, string>) {
    this.#cpus = cpus;
    this.#coreOf = coreOf;
  }

  take(share: number): TakenCpus {
    const cpus = chooseCpus(this.#cpus, this.#coreOf, this.#loads, share);
    this.#loads = withLoad(this.#loads, cpus, share);
    let isTaken = true;
    return {
      cpus,
      giveBack: () => {
        if (isTaken) this.#loads = withLoad(this.#loads, cpus, -share);
        isTaken = false;
      },
    };
  }
}
