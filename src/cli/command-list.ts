import type { Command } from "commander";

/** What a command learns from the program that holds it. */
export interface Program {
  /** The file that Node was started with, for commands that start further processes. */
  readonly entry: string;
  readonly version: string;
}

/** Adds arguments, options, examples and the action to a command. */
export type Describe = (command: Command, program: Program) => void;

interface Listed {
  readonly summary: string;
  /** Loaded only when the command is called: help must come at once. */
  readonly load: () => Promise<Describe>;
}

/** All commands, in the order in which help shows them. */
export const commandList: Readonly<Record<string, Listed>> = {
  up: {
    summary: "start a farm here and run the graph of a commit",
    load: async () => (await import("./commands/up.ts")).describeUp,
  },
  init: {
    summary: "write starter definitions for a repository",
    load: async () => (await import("./commands/init.ts")).describeInit,
  },
  submit: {
    summary: "ask a farm for the graph of a commit",
    load: async () => (await import("./commands/submit.ts")).describeSubmit,
  },
  status: {
    summary: "show the latest graphs, or one graph and its jobs",
    load: async () => (await import("./commands/status.ts")).describeStatus,
  },
  logs: {
    summary: "print the log of a job",
    load: async () => (await import("./commands/logs.ts")).describeLogs,
  },
  runs: {
    summary: "list the runs of a job",
    load: async () => (await import("./commands/runs.ts")).describeRuns,
  },
  workers: {
    summary: "list the workers of a farm",
    load: async () => (await import("./commands/workers.ts")).describeWorkers,
  },
  cancel: {
    summary: "cancel a graph, or one job of it",
    load: async () => (await import("./commands/cancel.ts")).describeCancel,
  },
  doctor: {
    summary: "check what this machine offers, and what is in the way",
    load: async () => (await import("./commands/doctor.ts")).describeDoctor,
  },
  example: {
    summary: "make a Git repository from the published versions of an npm package",
    load: async () => (await import("./commands/example.ts")).describeExample,
  },
  server: {
    summary: "run a server alone",
    load: async () => (await import("./commands/server.ts")).describeServer,
  },
  worker: {
    summary: "run a worker for a server",
    load: async () => (await import("./commands/worker.ts")).describeWorker,
  },
};
