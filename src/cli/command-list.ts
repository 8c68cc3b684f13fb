import type { Command } from "commander";

/** The facts that a command needs about the program. */
export interface Program {
  /** The file with which Node was started, for commands that start further processes. */
  readonly entry: string;
  readonly version: string;
}

/** Adds arguments, options, examples and the action to a command. */
export type Describe = (command: Command, program: Program) => void;

interface Listed {
  readonly summary: string;
  /** Loaded only when the command is called, because help must appear at once. */
  readonly load: () => Promise<Describe>;
}

/** All commands, in the order of the help. */
export const commandList: Readonly<Record<string, Listed>> = {
  up: {
    summary: "start a farm here and run the graph of a commit",
    load: async () => (await import("./commands/up.ts")).describeUp,
  },
  init: {
    summary: "write starter definitions for a repository",
    load: async () => (await import("./commands/init.ts")).describeInit,
  },
  run: {
    summary: "run jobs of the working tree on this machine, without a farm",
    load: async () => (await import("./commands/run.ts")).describeRun,
  },
  submit: {
    summary: "submit the graph of a commit to a farm",
    load: async () => (await import("./commands/submit.ts")).describeSubmit,
  },
  catalog: {
    summary: "push, show and compare definitions",
    load: async () => (await import("./commands/catalog.ts")).describeCatalog,
  },
  branch: {
    summary: "show and change the settings of a branch: switches, caps, protection",
    load: async () => (await import("./commands/branch.ts")).describeBranch,
  },
  status: {
    summary: "show the latest graphs, or one graph and its jobs",
    load: async () => (await import("./commands/status.ts")).describeStatus,
  },
  why: {
    summary: "explain why a job does not run, and what to do",
    load: async () => (await import("./commands/why.ts")).describeWhy,
  },
  failures: {
    summary: "show what failed in a graph, since when, and the end of the logs",
    load: async () => (await import("./commands/failures.ts")).describeFailures,
  },
  logs: {
    summary: "print the log of a job",
    load: async () => (await import("./commands/logs.ts")).describeLogs,
  },
  runs: {
    summary: "list the runs of a job",
    load: async () => (await import("./commands/runs.ts")).describeRuns,
  },
  times: {
    summary: "show waiting and run times of jobs, and whether the goal is met",
    load: async () => (await import("./commands/times.ts")).describeTimes,
  },
  metric: {
    summary: "show and set the metrics of the farm",
    load: async () => (await import("./commands/metric.ts")).describeMetric,
  },
  report: {
    summary: "report the result of a job that another machine ran",
    load: async () => (await import("./commands/report.ts")).describeReport,
  },
  backfill: {
    summary: "run jobs on every commit of a range",
    load: async () => (await import("./commands/backfill.ts")).describeBackfill,
  },
  bisect: {
    summary: "find the first commit on which jobs fail",
    load: async () => (await import("./commands/bisect.ts")).describeBisect,
  },
  search: {
    summary: "list, show or cancel backfills and bisections",
    load: async () => (await import("./commands/search.ts")).describeSearch,
  },
  bench: {
    summary: "measure artifacts, compare them, and follow their performance",
    load: async () => (await import("./commands/bench.ts")).describeBench,
  },
  workers: {
    summary: "list the workers of a farm",
    load: async () => (await import("./commands/workers.ts")).describeWorkers,
  },
  "size-classes": {
    summary: "list size classes: load, cost, and savings",
    load: async () => (await import("./commands/size-class.ts")).describeSizeClasses,
  },
  "size-class": {
    summary: "explain why a size class was chosen, and change the settings of the choice",
    load: async () => (await import("./commands/size-class.ts")).describeSizeClass,
  },
  invocations: {
    summary: "list the latest invocations of build tools",
    load: async () => (await import("./commands/invocations.ts")).describeInvocations,
  },
  invocation: {
    summary: "show an invocation of a build tool, and what failed in it",
    load: async () => (await import("./commands/invocation.ts")).describeInvocation,
  },
  target: {
    summary: "show how a target of a build tool went in the latest builds",
    load: async () => (await import("./commands/target.ts")).describeTarget,
  },
  execution: {
    summary: "show one execution of an action, or its output",
    load: async () => (await import("./commands/execution.ts")).describeExecution,
  },
  reproduce: {
    summary: "run the action of an execution on this machine, and compare the outputs",
    load: async () => (await import("./commands/reproduce.ts")).describeReproduce,
  },
  cancel: {
    summary: "cancel a graph, or one job of it",
    load: async () => (await import("./commands/cancel.ts")).describeCancel,
  },
  priority: {
    summary: "change the priority of a graph or a job",
    load: async () => (await import("./commands/priority.ts")).describePriority,
  },
  drain: {
    summary: "stop workers from taking new jobs, before you switch off a machine",
    load: async () => (await import("./commands/drain.ts")).describeDrain,
  },
  autoscaling: {
    summary: "show how many workers each size class should have, and why",
    load: async () => (await import("./commands/autoscaling.ts")).describeAutoscaling,
  },
  token: {
    summary: "create, list and revoke access tokens",
    load: async () => (await import("./commands/token.ts")).describeToken,
  },
  "sign-in": {
    summary: "sign a browser in without a token, and list sessions of browsers",
    load: async () => (await import("./commands/sign-in.ts")).describeSignIn,
  },
  identity: {
    summary: "map users of the identity provider to principals",
    load: async () => (await import("./commands/identity.ts")).describeIdentity,
  },
  issuer: {
    summary: "accept signed tokens of a CI system or a cloud",
    load: async () => (await import("./commands/issuer.ts")).describeIssuer,
  },
  grant: {
    summary: "give, remove and check rights",
    load: async () => (await import("./commands/grant.ts")).describeGrant,
  },
  provenance: {
    summary: "show the signed statement about which run made an output",
    load: async () => (await import("./commands/provenance.ts")).describeProvenance,
  },
  secret: {
    summary: "store secrets for jobs, and set the branches that get them",
    load: async () => (await import("./commands/secret.ts")).describeSecret,
  },
  forge: {
    summary: "watch repositories: run graphs for pushes and pull requests",
    load: async () => (await import("./commands/forge.ts")).describeForge,
  },
  key: {
    summary: "create signing keys, and set which keys are trusted",
    load: async () => (await import("./commands/key.ts")).describeKey,
  },
  sign: {
    summary: "sign a catalog, so that protected branches run it",
    load: async () => (await import("./commands/sign.ts")).describeSign,
  },
  retrigger: {
    summary: "run jobs of a graph or of a set again; shows first what will run",
    load: async () => (await import("./commands/retrigger.ts")).describeRetrigger,
  },
  "rerun-stale": {
    summary: "run jobs again whose inputs have changed since",
    load: async () => (await import("./commands/retrigger.ts")).describeRerunStale,
  },
  activate: {
    summary: "activate inactive jobs of a graph",
    load: async () => (await import("./commands/activate.ts")).describeActivate,
  },
  deactivate: {
    summary: "deactivate jobs that have not started",
    load: async () => (await import("./commands/activate.ts")).describeDeactivate,
  },
  waive: {
    summary: "let a job run without waiting for another job",
    load: async () => (await import("./commands/waive.ts")).describeWaive,
  },
  release: {
    summary: "continue at a breakpoint, or stop there",
    load: async () => (await import("./commands/release.ts")).describeRelease,
  },
  customise: {
    summary: "change a job's definition in one graph",
    load: async () => (await import("./commands/customise.ts")).describeCustomise,
  },
  clone: {
    summary: "create a copy of a graph, or of a part of it",
    load: async () => (await import("./commands/clone.ts")).describeClone,
  },
  set: {
    summary: "list the graphs of a set",
    load: async () => (await import("./commands/set.ts")).describeSet,
  },
  simulate: {
    summary: "simulate strategies for size classes on a trace, and compare their costs",
    load: async () => (await import("./commands/simulate.ts")).describeSimulate,
  },
  trace: {
    summary: "write a trace of the executions of a farm, or a standard trace",
    load: async () => (await import("./commands/trace.ts")).describeTrace,
  },
  doctor: {
    summary: "check this machine, and show how to repair problems",
    load: async () => (await import("./commands/doctor.ts")).describeDoctor,
  },
  example: {
    summary: "create a Git repository from the published versions of an npm package",
    load: async () => (await import("./commands/example.ts")).describeExample,
  },
  granary: {
    summary: "run the cache of this machine, which fetches results before a build needs them",
    load: async () => (await import("./commands/granary.ts")).describeGranary,
  },
  exec: {
    summary: "run a build with the granary of this machine, and print the savings",
    load: async () => (await import("./commands/exec.ts")).describeExec,
  },
  gocacheprog: {
    summary: "share the build cache of Go: the program that GOCACHEPROG names",
    load: async () => (await import("./commands/gocacheprog.ts")).describeGoCacheProg,
  },
  access: {
    summary: "show and set whether the farm is open, public or private",
    load: async () => (await import("./commands/access.ts")).describeAccess,
  },
  role: {
    summary: "list and change roles: named sets of verbs, for grants",
    load: async () => (await import("./commands/role.ts")).describeRole,
  },
  share: {
    summary: "create and revoke links to one log, output or comparison",
    load: async () => (await import("./commands/share.ts")).describeShare,
  },
  audit: {
    summary: "show the audit log: what was done on the farm, by whom and why",
    load: async () => (await import("./commands/audit.ts")).describeAudit,
  },
  mcp: {
    summary: "serve graphs, logs and failures of the farm to coding assistants (MCP)",
    load: async () => (await import("./commands/mcp.ts")).describeMcp,
  },
  completion: {
    summary: "print the script for completion of commands in a shell",
    load: async () => (await import("./commands/completion.ts")).describeCompletion,
  },
  man: {
    summary: "print or write the man pages",
    load: async () => (await import("./commands/man.ts")).describeMan,
  },
  retention: {
    summary: "show and set how long graphs and records are kept",
    load: async () => (await import("./commands/retention.ts")).describeRetention,
  },
  repository: {
    summary: "list repositories, and set through which project each is read",
    load: async () => (await import("./commands/repository.ts")).describeRepository,
  },
  project: {
    summary: "list projects that have blobs, and remove projects",
    load: async () => (await import("./commands/project.ts")).describeProject,
  },
  quarantine: {
    summary: "list and release cached results that are not reproducible",
    load: async () => (await import("./commands/quarantine.ts")).describeQuarantine,
  },
  collector: {
    summary: "run and manage machines that measure benchmarks",
    load: async () => (await import("./commands/collector.ts")).describeCollector,
  },
  backup: {
    summary: "copy a farm, its database and its blobs, to a directory while it runs",
    load: async () => (await import("./commands/backup.ts")).describeBackup,
  },
  restore: {
    summary: "restore a farm from a backup, or check a backup",
    load: async () => (await import("./commands/restore.ts")).describeRestore,
  },
  store: {
    summary: "copy the blobs of a farm from their directory to a bucket",
    load: async () => (await import("./commands/store.ts")).describeStore,
  },
  service: {
    summary: "install a server, workers or a granary as services of systemd",
    load: async () => (await import("./commands/service.ts")).describeService,
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
